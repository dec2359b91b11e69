"""Times of snapshots: in one line of catalogs each lies after the one before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from forklake.model.ids import SnapshotId
from forklake.store.database import Connection
from forklake.store.operations import Allocation


def later_time(connection: Connection, head: SnapshotId, allocation: Allocation) -> datetime:
    """The time of a new snapshot: now, but always after the one before it."""
    column = connection.dialect.time("snapshot_time")
    rows = connection.fetch(
        f"SELECT {column} FROM ducklake_snapshot WHERE snapshot_id = :head", head=head
    )
    return after(rows[0][0] if rows else None, allocation.now)


def after(previous: datetime | int | None, now: datetime) -> datetime:
    """The later of now and one microsecond after the previous time."""
    if previous is None:
        return now
    return max(now, as_time(previous) + timedelta(microseconds=1))


def as_time(value: datetime | int) -> datetime:
    """A time as the driver returned it: microseconds where it has no better way."""
    if isinstance(value, datetime):
        return value
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
