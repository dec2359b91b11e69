"""Packages that only some commands need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forklake.errors import Unsupported


@contextmanager
def needing_packages(who: str, extra: str) -> Iterator[None]:
    """Say what to install where a package is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"{who} need the package {missing.name}.",
            remedy=f"Install it with: pip install 'forklake[{extra}]'.",
        ) from None
