"""Which files on storage rows of the metastore name, in whichever catalog and spelling.

A stored path is relative to the data path of its catalog, or full and as it was once written. Rows
with the same file name are compared with the place where the file really is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from posixpath import basename
from urllib.parse import quote, unquote

from forklake.files.locations import location_of
from forklake.store.database import Connection
from forklake.store.known import Known, rows_of_names


def find_known_files(
    connection: Connection, paths: Sequence[str], among: Known = Known.ALL
) -> set[str]:
    """Return those of some files, given by their full paths, that rows of any catalog name."""
    if not paths:
        return set()
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(basename(path), []).append(path)
    names = {*by_name, *map(quote, by_name)}
    found: set[str] = set()
    for stored, is_relative in rows_of_names(connection, sorted(names), among):
        name = basename(stored)
        same_name = by_name.get(name, []) + (by_name.get(unquote(name), []) if "%" in name else [])
        found.update(_means(stored, same_name, is_relative=is_relative))
    return found


def _means(stored: str, paths: Iterable[str], *, is_relative: bool) -> Iterable[str]:
    """Return the files that a stored path can mean.

    A relative one means a file that its path ends with. The data path before it is not compared: it
    may be spelled in another way, or the catalog may have been attached with another one. Upper and
    lower case are not told apart: the folders of `Sales` and `sales` are one on some file systems.
    """
    if is_relative:
        tail = f"/{stored.lstrip('/')}".casefold()
        return [
            path
            for path in paths
            if f"/{path}".casefold().endswith(tail) or location_of(path).casefold().endswith(tail)
        ]
    place = location_of(stored).casefold()
    return [path for path in paths if path == stored or location_of(path).casefold() == place]
