"""How counts and sizes read to people, wherever they are shown."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(count: float) -> str:
    """A number of bytes in the unit that fits."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if abs(value) < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A count with its noun: `1 catalog`, `2,000 catalogs`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"
