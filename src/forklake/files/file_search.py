"""Resolution of file paths, glob patterns and folders to the files that exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pyarrow.fs import FileType

from forklake.errors import NotFound
from forklake.files.systems import Listed, file_system, is_local, list_files, translating

# Files that mark a folder as a Delta table or an Iceberg table.
_LOG = re.compile(r"/(?:_delta_log/\d{20}\.[^/]+|metadata/[^/]+\.metadata\.json)$")
_WILD = re.compile(r"[*?\[]")
_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)
_REGEX = {"**/": r"(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def found_files(patterns: Iterable[str]) -> list[str]:
    """Return the files of paths, glob patterns and folders, in the order given.

    Raises:
        NotFound: one of them matches no file.
    """
    return [path for pattern in patterns for path in _files_of(pattern)]


def files_outside_of_tables(files: Sequence[Listed]) -> list[Listed]:
    """Return the files that lie outside of the folders of Delta and Iceberg tables."""
    roots = {file.path[: log.start()] for file in files if (log := _LOG.search(file.path))}
    return [file for file in files if not roots or roots.isdisjoint(_folders_of(file.path))]


def _folders_of(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path


def _files_of(pattern: str) -> list[str]:
    is_plain = is_local(pattern) and not pattern.lower().startswith("file:")
    place = str(Path(pattern).absolute()) if is_plain else pattern
    found = _matching(place) if _WILD.search(place) else _at(place)
    if not found:
        raise NotFound(
            f"No files found that match the pattern {pattern!r}.",
            remedy="Check the path or the pattern.",
            path=pattern,
        )
    return found


def _at(place: str) -> list[str]:
    """Return the file at a path, or the files of a folder without hidden ones."""
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
    wanted = re.compile(_glob_regex(pattern))
    return [one.path for one in list_files(folder) if wanted.fullmatch(one.path)]


def _glob_regex(pattern: str) -> str:
    """Return the regular expression of a pattern of paths.

    The text between two stars of a path component is matched at its first occurrence only
    (`(?>…)`): another occurrence is never better, and trying all of them takes exponential time.
    """
    pieces = _PIECE.findall(pattern)
    found, star = "", None  # where the text of the last star begins
    for piece in pieces:
        if piece == "*":
            if star is not None:
                found = f"{found[:star]}(?>[^/]*?{found[star + len(_REGEX['*']) :]})"
            star = len(found)
        elif "/" in piece or piece == "**":
            star = None
        found += _regex(piece)
    return found


def _regex(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        inside = piece[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[^{inside[1:]}/]" if inside.startswith("!") else f"[{inside}]"
    return _REGEX.get(piece, re.escape(piece))


def _is_hidden(path: str, folder: str) -> bool:
    inside = path[len(folder) :].strip("/").split("/")
    return any(part.startswith((".", "_")) for part in inside)
