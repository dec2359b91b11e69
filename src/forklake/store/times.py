"""Times of snapshots: in one line of catalogs each lies after the one before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def after(previous: datetime, now: datetime) -> datetime:
    """The time of a new snapshot: now, but always after the one before it."""
    return max(now, previous + timedelta(microseconds=1))


def as_time(value: datetime | int) -> datetime:
    """A time as the driver returned it: microseconds where it has no better way."""
    if isinstance(value, datetime):
        return value
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
