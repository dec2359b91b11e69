"""Paths in a Delta log: URIs that are relative to the table or absolute.

`/p`, `file:/p` and `file:///p` are the same path, and `a%20b` is the file `a b`: paths are compared
and opened in their canonical form. A path may lead out of the table, as in shallow clones. Relative
paths with `..` are accepted too, since an absolute path can lead anywhere anyway.
"""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import normpath
from urllib.parse import unquote

from forklake.files.systems import file_system

_REMEMBERED = 8192  # size of the cache: each path of a version is resolved several times
_ABSOLUTE = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")
_STORE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]*)?(.*)", re.DOTALL)
_DOTS = re.compile(r"(?:^|/)\.\.?(?:/|$)")


@lru_cache(maxsize=_REMEMBERED)
def canonical_path(path: str) -> str:
    """Return the canonical, decoded form of a path. It stays relative or absolute."""
    clean = file_system(path)[1] if path.startswith("file:/") else unquote(path)
    return _resolve_dots(clean)


def is_absolute(path: str) -> bool:
    """Return whether a path is absolute, and not relative to the root of its table."""
    return _ABSOLUTE.match(path) is not None


@lru_cache(maxsize=_REMEMBERED)
def full_path(root: str, path: str) -> str:
    """Return the full path of a file of a table with this root."""
    clean = canonical_path(path)
    return clean if _ABSOLUTE.match(path) else _resolve_dots(f"{root.rstrip('/')}/{clean}")


def _resolve_dots(path: str) -> str:
    """Resolve `.` and `..`. They never lead out of a bucket."""
    if not _DOTS.search(path):
        return path  # the usual case
    store, inside = _STORE.fullmatch(path).groups(default="")  # type: ignore[union-attr]
    return f"{store}{normpath(inside)}"
