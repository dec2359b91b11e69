"""Paths of files that a query names: as Spark takes them, and keys in the names of folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forklake.errors import InvalidInput

_SIGN = re.compile(r"([\[\]{}*?\\])")
_KEY = re.compile(r"([^/=]+)=[^/]*")


def as_written(path: str) -> str:
    """The path of a file for Spark, which would take some of its signs for a pattern."""
    return _SIGN.sub(r"\\\1", path)


@dataclass(frozen=True, slots=True)
class Hive:
    """Files in folders that are named after keys: `root/year=2024/month=1/`."""

    root: str
    keys: tuple[str, ...]


def hive_folders(files: Sequence[str], asked: bool | None) -> Hive | None:
    """The keys of files that all have the same; None if they are not, or not asked for."""
    if asked is False:
        return None
    found = {_hive(path) for path in files}
    if len(found) == 1 and all(one.keys for one in found):
        return found.pop()
    if asked:
        raise InvalidInput(
            "The folders of these files do not have the same keys beneath one folder.",
            remedy="Leave hive_partitioning out.",
        )
    return None


def _hive(path: str) -> Hive:
    folders = path.rpartition("/")[0] + "/"
    found = list(_KEY.finditer(folders))
    return Hive(folders[: found[0].start()] if found else "", tuple(one[1] for one in found))
