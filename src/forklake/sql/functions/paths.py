"""Hive partition keys in the folders of files that a query reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forklake.errors import InvalidInput

_KEY = re.compile(r"([^/=]+)=[^/]*")


@dataclass(frozen=True, slots=True)
class HivePartitioning:
    """Hive partitioning of files: `root/year=2024/month=1/`."""

    root: str
    keys: tuple[str, ...]


def find_hive_partitioning(files: Sequence[str], option: bool | None) -> HivePartitioning | None:
    """Return the hive partition keys that all files share; None if they differ or are turned off.

    `option` is the option hive_partitioning: None detects the keys, true requires them.
    """
    if option is False:
        return None
    candidates = {_parse_hive_folders(path) for path in files}
    if len(candidates) == 1 and all(one.keys for one in candidates):
        return candidates.pop()
    if option:
        raise InvalidInput(
            "The folders of these files do not have the same hive partition keys below one folder.",
            remedy="Remove the option hive_partitioning.",
        )
    return None


def _parse_hive_folders(path: str) -> HivePartitioning:
    folders = path.rpartition("/")[0] + "/"
    matches = list(_KEY.finditer(folders))
    return HivePartitioning(
        folders[: matches[0].start()] if matches else "", tuple(one[1] for one in matches)
    )
