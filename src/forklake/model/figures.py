"""Counts and sizes as text for people."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(count: float) -> str:
    """Format a number of bytes with a fitting unit: `999 B`, `1.5 kB`, `512 MB`."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if abs(value) < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"


def counted(count: int, thing: str, things: str | None = None) -> str:
    """Format a count with its noun: `1 catalog`, `2,000 catalogs`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"
