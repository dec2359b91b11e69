"""Versions of Delta tables: their numbers, times and snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from forklake.errors import Conflict
from forklake.model.delta_tables import FaceCommit
from forklake.model.entities import DeltaVersion
from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.database import Database

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def following_version(
    told: FaceCommit, newest: Sequence[DeltaVersion], now: datetime
) -> tuple[int, int]:
    """Return the version and time of a new Delta commit. Times strictly increase with versions."""
    last = max(newest, key=lambda one: one.version, default=None)
    version = told.version
    if version is None:
        version = 0 if last is None else last.version + 1
    elif last is not None and version <= last.version:
        raise Conflict(
            f"Version {version} of the Delta table was committed concurrently. Nothing was"
            " changed.",
            remedy="Read the newest version of the table and try again.",
        )
    time = milliseconds(now) if told.timestamp is None else told.timestamp
    return version, time if last is None else max(time, last.timestamp + 1)


def milliseconds(moment: datetime) -> int:
    """Return a time as milliseconds since 1970, as Delta stores it."""
    return (moment - _EPOCH) // _MILLISECOND


def schema_versions(
    database: Database, catalog_id: CatalogId, snapshots: Sequence[SnapshotId]
) -> dict[SnapshotId, int]:
    """Return the schema version at each snapshot. Expired snapshots are left out."""
    with database.reading() as connection:
        dialect = connection.dialect
        rows = connection.fetch(
            "SELECT s.snapshot_id, s.schema_version FROM ducklake_catalog_lineage l"
            " JOIN ducklake_snapshot_changes h ON h.catalog_id = l.ancestor_id"
            " AND h.snapshot_id <= l.upto_snapshot"
            " JOIN ducklake_snapshot s ON s.snapshot_id = h.snapshot_id"
            f" WHERE l.catalog_id = :catalog AND {dialect.any_of('h.snapshot_id', 'snapshots')}",
            catalog=catalog_id,
            snapshots=dialect.array(snapshots),
        )
    return {SnapshotId(number): version for number, version in rows}
