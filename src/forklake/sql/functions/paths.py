"""Paths of files that a query names: patterns, folders, and keys in the names of folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyarrow.fs import FileType

from forklake.errors import InvalidInput, NotFound
from forklake.files.systems import file_system, is_local, list_files, translating

_WILD = re.compile(r"[*?\[]")
_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)
_REGEX = {"**/": r"(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_SIGN = re.compile(r"([\[\]{}*?\\])")
_KEY = re.compile(r"([^/=]+)=[^/]*")


def found_files(patterns: Iterable[str]) -> list[str]:
    """The files of paths, patterns and folders; NotFound if one of them leads to none."""
    return [path for pattern in patterns for path in _files_of(pattern)]


def _files_of(pattern: str) -> list[str]:
    is_plain = is_local(pattern) and not pattern.lower().startswith("file:")
    place = str(Path(pattern).absolute()) if is_plain else pattern
    found = _matching(place) if _WILD.search(place) else _at(place)
    if not found:
        raise NotFound(
            f"No files found that match the pattern {pattern!r}.",
            remedy="Check the path.",
            path=pattern,
        )
    return found


def _at(place: str) -> list[str]:
    """A file, or those in a folder that are somebody's data."""
    system, inside = file_system(place)
    with translating(place):
        kind = system.get_file_info(inside).type
    if kind == FileType.Directory:
        return [one.path for one in list_files(place) if not _is_hidden(one.path, place)]
    return [place] if kind == FileType.File else []


def _matching(pattern: str) -> list[str]:
    wild = _WILD.search(pattern)
    assert wild is not None
    folder = pattern[: wild.start()].rpartition("/")[0]
    wanted = re.compile("".join(map(_regex, _PIECE.findall(pattern))))
    return [one.path for one in list_files(folder) if wanted.fullmatch(one.path)]


def _regex(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        inside = piece[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return _REGEX.get(piece, re.escape(piece))


def _is_hidden(path: str, folder: str) -> bool:
    inside = path[len(folder) :].strip("/").split("/")
    return any(part.startswith((".", "_")) for part in inside)


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
