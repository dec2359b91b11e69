"""Check of file paths in statements: only files in folders that the operator allows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from forklake.errors import Forbidden
from forklake.files.file_search import found_files

_WILD = re.compile(r"[*?\[]")


def require_inside(patterns: Iterable[str], roots: Sequence[str]) -> None:
    """Raise Forbidden unless all files that match the patterns are inside one of the folders.

    Local paths are resolved first, so that symbolic links cannot lead outside.
    """
    for pattern in patterns:
        if not _is_inside(_WILD.split(pattern, maxsplit=1)[0], roots):
            raise _refusal(pattern)
        for path in found_files([pattern]):
            if not _is_inside(path, roots):
                raise _refusal(pattern)


def _is_inside(path: str, roots: Sequence[str]) -> bool:
    if ".." in re.split(r"[/\\]", path) or not path.isprintable():
        return False
    if ":" in path:  # a URL; a URL of a local file is rejected because roots have no such form
        return any(path.startswith(root.rstrip("/") + "/") for root in roots if "://" in root)
    real = os.path.realpath(path)
    return any(
        Path(real).is_relative_to(os.path.realpath(root)) for root in roots if "://" not in root
    )


def _refusal(path: str) -> Forbidden:
    return Forbidden(
        f"The path {path!r} cannot be read in sessions of the service.",
        remedy="Read tables of attached catalogs. The operator can allow folders of files with the"
        " setting 'file_roots'.",
    )
