"""Errors for optional packages that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forklake.errors import Unsupported


@contextmanager
def require_packages(who: str, extra: str) -> Iterator[None]:
    """Raise Unsupported with the command to install `extra` if the block lacks a package."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise Unsupported(
            f"{who} need the package {missing.name}, which is not installed.",
            remedy=f"Install it: pip install 'forklake[{extra}]'.",
        ) from None
