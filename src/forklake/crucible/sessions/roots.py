"""Which files statements may name by their paths: those beneath folders that the operator chose."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from forklake.errors import Forbidden
from forklake.files.finding import found_files

_WILD = re.compile(r"[*?\[]")


def require_inside(patterns: Iterable[str], roots: Sequence[str]) -> None:
    """Forbidden unless all files of the paths and patterns lie beneath one of the folders.

    Local ones are looked at where they really are, whatever links lead there.
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
    if ":" in path:  # an address; those of local files have another form, which is enough
        return any(path.startswith(root.rstrip("/") + "/") for root in roots if "://" in root)
    real = os.path.realpath(path)
    return any(
        Path(real).is_relative_to(os.path.realpath(root)) for root in roots if "://" not in root
    )


def _refusal(path: str) -> Forbidden:
    return Forbidden(
        f"The path {path!r} cannot be read here.",
        remedy="Read tables of attached catalogs; the operator can allow folders of files.",
    )
