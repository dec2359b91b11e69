"""Template filters that format numbers, sizes and times, and the builder of URLs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from forklake.model.figures import counted, size

# (limit in seconds, seconds per unit, symbol): the first unit whose limit is larger is used.
_AGES = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (30 * 86_400, 86_400, "d"))


def number(value: float) -> str:
    """Return a number with thousands separators."""
    return f"{value:,.0f}"


def short(value: float) -> str:
    """Return a short form of a number, for the axis of a chart."""
    for factor, sign in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {sign}"
    return f"{value:.3g}"


def moment(value: datetime | None) -> str:
    """Return a time in UTC, to the second."""
    return "" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def day(value: datetime) -> str:
    """Return the day of a time in UTC."""
    return value.astimezone(UTC).strftime("%A, %-d %B %Y")


def clock(value: datetime) -> str:
    """Return the time of day in UTC."""
    return value.astimezone(UTC).strftime("%H:%M:%S")


def ago(value: datetime | None, now: datetime | None = None) -> str:
    """Return the time relative to now, such as `3 min ago` or `in 2 h`."""
    if value is None:
        return "never"
    seconds = ((now or datetime.now(UTC)) - value).total_seconds()
    for limit, unit, sign in _AGES:
        if abs(seconds) < limit:
            text = f"{abs(seconds) // unit:.0f} {sign}"
            return f"{text} ago" if seconds >= 0 else f"in {text}"
    return moment(value)[:10]


def duration(seconds: float) -> str:
    """Return a duration in a suitable unit."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def link(*parts: Any, **query: Any) -> str:
    """Return the URL of a page from its path segments and query. None and "" are omitted."""
    path = "/" + "/".join(quote(str(part), safe="") for part in parts)
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


FILTERS = {
    one.__name__: one for one in (number, size, short, moment, day, clock, ago, duration, counted)
}
