"""Times of snapshots, which strictly increase along a lineage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def after(previous: datetime, now: datetime) -> datetime:
    """Return the time of a new snapshot: now, but always later than the previous snapshot."""
    return max(now, previous + timedelta(microseconds=1))


def as_time(value: datetime | int) -> datetime:
    """Return a time as datetime. Drivers without time zones return microseconds since 1970."""
    if isinstance(value, datetime):
        return value
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
