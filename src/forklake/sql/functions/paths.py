"""Hive partition keys in the folders of files that a query reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forklake.errors import InvalidInput

_KEY = re.compile(r"([^/=]+)=[^/]*")


@dataclass(frozen=True, slots=True)
class Hive:
    """Hive partitioning of files: `root/year=2024/month=1/`."""

    root: str
    keys: tuple[str, ...]


def hive_folders(files: Sequence[str], option: bool | None) -> Hive | None:
    """Return the hive partition keys that all files share; None if they differ or are turned off.

    `option` is the option hive_partitioning: None detects the keys, true requires them.
    """
    if option is False:
        return None
    found = {_hive(path) for path in files}
    if len(found) == 1 and all(one.keys for one in found):
        return found.pop()
    if option:
        raise InvalidInput(
            "The folders of these files do not have the same hive partition keys below one folder.",
            remedy="Remove the option hive_partitioning.",
        )
    return None


def _hive(path: str) -> Hive:
    folders = path.rpartition("/")[0] + "/"
    found = list(_KEY.finditer(folders))
    return Hive(folders[: found[0].start()] if found else "", tuple(one[1] for one in found))
