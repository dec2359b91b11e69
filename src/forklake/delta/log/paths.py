"""Paths of a Delta log: they are URIs, relative to the table or absolute.

`/p`, `file:/p` and `file:///p` are one path, and `a%20b` is the file `a b`: what is compared and
opened is always the canonical form. A path may lead out of the table, as those of shallow clones
do: an absolute one can lead anywhere, so a relative one may as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import normpath
from urllib.parse import unquote

from forklake.files.systems import file_system

_REMEMBERED = 8192  # what a version says of a file is looked at more than once
_ABSOLUTE = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")
_STORE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]*)?(.*)", re.DOTALL)
_DOTS = re.compile(r"(?:^|/)\.\.?(?:/|$)")


@lru_cache(maxsize=_REMEMBERED)
def canonical(path: str) -> str:
    """The one form of a path, decoded; it stays relative or absolute."""
    clean = file_system(path)[1] if path.startswith("file:/") else unquote(path)
    return _without_dots(clean)


def is_absolute(path: str) -> bool:
    """Whether a path is not relative to the root of its table."""
    return _ABSOLUTE.match(path) is not None


@lru_cache(maxsize=_REMEMBERED)
def full_path(root: str, path: str) -> str:
    """Where the file is, for a table at this root."""
    clean = canonical(path)
    return clean if _ABSOLUTE.match(path) else _without_dots(f"{root.rstrip('/')}/{clean}")


def _without_dots(path: str) -> str:
    """The same place without `.` and `..`; nothing leads out of a bucket."""
    if not _DOTS.search(path):
        return path  # as nearly all are
    store, inside = _STORE.fullmatch(path).groups(default="")  # type: ignore[union-attr]
    return f"{store}{normpath(inside)}"
