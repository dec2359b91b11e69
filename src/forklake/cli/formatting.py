"""How numbers, sizes, times and foreign text look to people."""

from __future__ import annotations

from datetime import UTC, datetime


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
