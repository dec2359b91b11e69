"""Paths as they are stored: the one resolver.

Paths are stored relative to the data path of the catalog that wrote the file, the catalog's folder
included (`sales/main/orders/1.parquet`), so that a fork reads them unchanged.
"""

from __future__ import annotations

from posixpath import normpath
from urllib.parse import unquote

from forklake.errors import InvalidInput
from forklake.model.names import folded

# What a partition's folder says instead of a value where there is none.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def checked_data_path(path: str) -> str:
    """A data path in the form in which it is kept: with a slash at its end."""
    if not path.strip() or not path.isprintable():
        raise InvalidInput(
            f"The data path {path!r} is empty or has a character that cannot be seen.",
            remedy="Name a folder, or a bucket and prefix.",
        )
    if ".." in path.split("/"):
        raise InvalidInput(
            f"The data path {path!r} contains '..'.", remedy="Name the folder itself."
        )
    return path.rstrip("/") + "/"


def resolve(data_path: str, path: str, *, is_relative: bool) -> str:
    """The full path of a stored one; it cannot lead out of the data path."""
    if not is_relative:
        return path
    if (".." in path or path.startswith("/")) and _leads_out(path):
        raise InvalidInput(
            f"The stored path {path!r} leads out of the data path {data_path!r}.",
            remedy="The metastore may have been tampered with.",
        )
    return data_path.rstrip("/") + "/" + path


def _leads_out(path: str) -> bool:
    clean = normpath(path)
    return clean.startswith(("/", "../")) or clean == ".."


def folder_value(folder: str, path: str) -> str | None:
    """What the folders of a path say about a key, as in `.../key=value/...`."""
    for part in path.split("/"):
        name, equals, value = part.partition("=")
        if equals and folded(unquote(name)) == folded(folder):
            return None if value == NO_VALUE else unquote(value)
    return None
