"""Paths of a Delta log: they are URIs, relative to the table or absolute.

`/p`, `file:/p` and `file:///p` are one path, and `a%20b` is the file `a b`: what is compared and
opened is always the canonical form.
"""

from __future__ import annotations

import re
from posixpath import normpath
from urllib.parse import unquote

from forklake.errors import Corruption
from forklake.files.systems import file_system

_ABSOLUTE = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")


def canonical(path: str) -> str:
    """The one form of a path, decoded; it stays relative or absolute."""
    if path.startswith("file:/"):
        return file_system(path)[1]
    return unquote(path)


def is_absolute(path: str) -> bool:
    """Whether a path is not relative to the root of its table."""
    return _ABSOLUTE.match(path) is not None


def full_path(root: str, path: str) -> str:
    """Where the file is, for a table at this root."""
    clean = canonical(path)
    return clean if _ABSOLUTE.match(path) else f"{root.rstrip('/')}/{clean}"


def require_inside(path: str) -> None:
    """Corruption if a relative path leads out of the table."""
    if ".." not in path and "%" not in path:
        return  # as nearly all are
    clean = canonical(path)
    if ".." in clean and not _ABSOLUTE.match(path) and normpath(clean).split("/", 1)[0] == "..":
        raise Corruption(
            f"The path {path!r} leads out of the table.",
            remedy="The Delta log may have been tampered with.",
            path=path,
        )
