"""Comparison of data paths as texts: which paths enclose a data path, and which lie within it.

A data path ends with a slash, so one lies within another exactly if it begins with it. The same
folder can be written in several ways, and older metastores contain all of them.
"""

from __future__ import annotations

import re
from itertools import accumulate

# Schemes for the same files.
_SAME = (("s3", "s3a", "s3n"), ("gs", "gcs"), ("abfs", "abfss"))
_ALIASES = {scheme: schemes for schemes in _SAME for scheme in schemes}
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://[^/]*)")


def main_scheme(scheme: str) -> str:
    """Return the canonical scheme among those for the same files."""
    return _ALIASES.get(scheme, (scheme,))[0]


def list_spellings(path: str) -> list[str]:
    """Return all texts that may be stored for a folder: with each scheme, or as a `file:` URI."""
    address = _ADDRESS.match(path)
    if address is None:
        return [path, f"file:{path}", f"file://{path}"]
    rest = path[address.end(1) :]
    return [scheme + rest for scheme in _ALIASES.get(address[1], (address[1],))]


def list_enclosing(path: str) -> list[str]:
    """Return the folders that enclose a data path, outermost first, without the path itself."""
    address = _ADDRESS.match(path)
    start = address.end() if address else 0
    folders = [part + "/" for part in path[start:].rstrip("/").split("/")]
    return list(accumulate(folders, initial=path[:start]))[1:-1]


def enclosed_range(path: str) -> tuple[str, str]:
    """Return the exclusive bounds, in code point order, of all texts within a data path."""
    return path, path[:-1] + chr(ord("/") + 1)
