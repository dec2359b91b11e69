"""How numbers, sizes, times and addresses look on pages: the filters of the templates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from forklake.model.figures import counted, size

# The longest time that is told in a unit, the unit's seconds and its sign.
_AGES = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (30 * 86_400, 86_400, "d"))


def number(value: float) -> str:
    """A number with separators."""
    return f"{value:,.0f}"


def short(value: float) -> str:
    """A number in few signs, for the axis of a chart."""
    for factor, sign in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {sign}"
    return f"{value:.3g}"


def moment(value: datetime | None) -> str:
    """A time in UTC, to the second."""
    return "" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def day(value: datetime) -> str:
    """The day of a time in UTC."""
    return value.astimezone(UTC).strftime("%A, %-d %B %Y")


def clock(value: datetime) -> str:
    """The time of day in UTC."""
    return value.astimezone(UTC).strftime("%H:%M:%S")


def ago(value: datetime | None, now: datetime | None = None) -> str:
    """How long ago a time was, or in how long it will be."""
    if value is None:
        return "never"
    seconds = ((now or datetime.now(UTC)) - value).total_seconds()
    for limit, unit, sign in _AGES:
        if abs(seconds) < limit:
            told = f"{abs(seconds) // unit:.0f} {sign}"
            return f"{told} ago" if seconds >= 0 else f"in {told}"
    return moment(value)[:10]


def duration(seconds: float) -> str:
    """A time in the unit that fits."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def link(*parts: Any, **query: Any) -> str:
    """The address of a page: parts of its path, then what is asked of it (unless it is None)."""
    path = "/" + "/".join(quote(str(part), safe="") for part in parts)
    asked = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(asked)}" if asked else path


FILTERS = {
    one.__name__: one for one in (number, size, short, moment, day, clock, ago, duration, counted)
}
