"""Data paths as texts: which ones enclose a data path, and which lie within it.

A data path ends with a slash, so that one lies within another exactly if it begins with it. The
same folder can be written in several ways; older metastores hold all of them.
"""

from __future__ import annotations

import re
from itertools import accumulate

# Schemes that lead to the same files.
_SAME = (("s3", "s3a", "s3n"), ("gs", "gcs"), ("abfs", "abfss"))
_ALIASES = {scheme: schemes for schemes in _SAME for scheme in schemes}
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://[^/]*)")


def main_scheme(scheme: str) -> str:
    """Return the scheme that stands for all schemes that lead to the same files."""
    return _ALIASES.get(scheme, (scheme,))[0]


def list_spellings(path: str) -> list[str]:
    """Return the texts under which a folder can be stored: by scheme, and local ones as URIs."""
    address = _ADDRESS.match(path)
    if address is None:
        return [path, f"file:{path}", f"file://{path}"]
    rest = path[address.end(1) :]
    return [scheme + rest for scheme in _ALIASES.get(address[1], (address[1],))]


def list_enclosing(path: str) -> list[str]:
    """Return the folders that enclose a data path, outermost first, without itself."""
    address = _ADDRESS.match(path)
    start = address.end() if address else 0
    folders = [part + "/" for part in path[start:].rstrip("/").split("/")]
    return list(accumulate(folders, initial=path[:start]))[1:-1]


def enclosed_range(path: str) -> tuple[str, str]:
    """Return the bounds, both exclusive in code point order, of texts within a data path."""
    return path, path[:-1] + chr(ord("/") + 1)
