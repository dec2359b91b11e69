"""Lookup of the files in storage that rows of the metastore refer to.

A stored path is relative to the data path of its catalog, or a full path as written at that time.
Candidates are rows with the same file name; their paths are compared in canonical form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from posixpath import basename
from urllib.parse import quote, unquote

from forklake.files.locations import location_of
from forklake.store.database import Connection
from forklake.store.table_cache import Known, rows_of_names


def find_known_files(
    connection: Connection, paths: Sequence[str], among: Known = Known.ALL
) -> set[str]:
    """Return those of the full paths that rows of any catalog refer to."""
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
    """Return the paths that a stored path can refer to.

    A relative path is compared with the end of each full path. The data path before it is not
    compared: it may be written differently, or the catalog may have been attached with another one.
    Case is ignored: on some file systems the folders of `Sales` and `sales` are the same.
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
