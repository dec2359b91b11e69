"""Stored paths and their only resolver.

Paths are stored relative to the data path of the catalog that wrote the file, including the folder
of that catalog (`sales/main/orders/1.parquet`), so that forks read them unchanged.
"""

from __future__ import annotations

from posixpath import normpath
from urllib.parse import unquote

from forklake.errors import InvalidInput
from forklake.model.names import folded

# Name in a partition folder for a value of NULL.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def checked_data_path(path: str) -> str:
    """Return a data path with a slash at its end; raise InvalidInput if it is not acceptable."""
    if not path.strip() or not path.isprintable():
        raise InvalidInput(
            f"The data path {path!r} is empty or contains a character that is not printable.",
            remedy="Use a folder, or a bucket and prefix.",
        )
    if ".." in path.split("/"):
        raise InvalidInput(
            f"The data path {path!r} contains '..'.", remedy="Use the path without '..'."
        )
    return path.rstrip("/") + "/"


def resolve(data_path: str, path: str, *, is_relative: bool) -> str:
    """Return the full path of a stored path, which must stay inside the data path."""
    if not is_relative:
        return path
    if (".." in path or path.startswith("/")) and _leads_out(path):
        raise InvalidInput(
            f"The stored path {path!r} leads out of the data path {data_path!r}.",
            remedy="The metastore may have been tampered with: restore it from a backup.",
        )
    return data_path.rstrip("/") + "/" + path


def _leads_out(path: str) -> bool:
    clean = normpath(path)
    return clean.startswith(("/", "../")) or clean == ".."


def folder_value(folder: str, path: str) -> str | None:
    """Return the value of a partition key from folders like `.../key=value/...`; None if absent."""
    for part in path.split("/"):
        name, equals, value = part.partition("=")
        if equals and folded(unquote(name)) == folded(folder):
            return None if value == NO_VALUE else unquote(value)
    return None
