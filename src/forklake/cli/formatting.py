"""Formats of numbers, sizes, times and untrusted text."""

from __future__ import annotations

from datetime import UTC, datetime


def escape(text: str) -> str:
    """Return the text on one line, with unprintable characters (terminal controls too) escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def number(value: float) -> str:
    """Format a number with separators. Only floats below 100 keep a decimal."""
    return f"{value:,.1f}" if isinstance(value, float) and value < 100 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """Format a duration in seconds or milliseconds."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def iso_time(moment: datetime) -> str:
    """Format a time as ISO 8601 in UTC, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def short_time(moment: datetime) -> str:
    """Format a time in UTC for a table, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
