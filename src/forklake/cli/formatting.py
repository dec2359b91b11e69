"""How numbers, sizes, times and foreign text look to people."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def visible(text: str) -> str:
    """The text on one line; what cannot be seen, or would command the terminal, is escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def quoted(name: str) -> str:
    """A name as SQL has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def number(value: float) -> str:
    """A number with separators; only small ones keep a decimal."""
    return f"{value:,.1f}" if isinstance(value, float) and value < 100 else f"{value:,.0f}"


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


def duration(seconds: float) -> str:
    """A short time in the unit that fits."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def iso_time(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def short_time(moment: datetime) -> str:
    """A moment in UTC for a table."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
