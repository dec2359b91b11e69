"""Expired snapshots: deleting them from the history, and detecting that one was deleted.

The snapshot itself is deleted first and its rows later. So a reader that has read rows, and then
finds that the snapshot still exists, has seen all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from forklake.errors import NotFound
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.retention import Run, expirable, runs_of
from forklake.model.snapshots import Snapshot
from forklake.store.database import Connection, Database
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.heads import head_statement
from forklake.store.idempotency import stale_keys_deletion
from forklake.store.operations import Insert, Operation, Statement
from forklake.store.phases import reached
from forklake.store.schema.catalog_tables import EXPIRED_SNAPSHOTS
from forklake.store.snapshots import list_snapshots
from forklake.store.times import as_time

_COLUMNS = EXPIRED_SNAPSHOTS.column_names


@again_if_undone
def forget_snapshots(
    database: Database,
    catalog_id: CatalogId,
    *,
    versions: Collection[int] | None = None,
    older_than: datetime | None = None,
    keys_before: datetime | None = None,
) -> list[Snapshot]:
    """Delete snapshots from a catalog's history, except the newest. Return the deleted ones.

    The lock on the head keeps new forks of the catalog waiting. A fork of the past that is created
    through another fork locks the row of the snapshot itself (see `forks`).
    Idempotency keys of expired snapshots that were used before `keys_before` are deleted too.
    """
    with database.writing() as connection:
        reached("expire.begun")
        removing = connection.dialect.for_removal
        connection.run([head_statement(connection, catalog_id, removing)])
        reached("expire.locked")
        chosen = expirable(
            list_snapshots(connection, catalog_id),
            catalog_id,
            versions=versions,
            older_than=older_than,
        )
        if chosen:
            gone = [(one.snapshot_id, one.snapshot_time) for one in chosen]
            operations = forgetting(connection, catalog_id, gone)
            if keys_before is not None:
                operations.append(stale_keys_deletion(catalog_id, keys_before))
            connection.commit(operations)
            reached("expire.forgotten")
        return chosen


def forgetting(
    connection: Connection, catalog_id: CatalogId, gone: Sequence[tuple[SnapshotId, datetime]]
) -> list[Operation]:
    """Return the operations that delete snapshots, each with its time, from a catalog's history."""
    numbers = {number for number, _ in gone}
    kept = connection.fetch(
        "SELECT snapshot_id FROM ducklake_snapshot_changes WHERE catalog_id = :catalog"
        " ORDER BY snapshot_id",
        catalog=catalog_id,
    )
    before = [(run.begin_snapshot, run.begin_time) for run in _runs(connection, catalog_id)]
    runs = runs_of([*before, *gone], [number for (number,) in kept if number not in numbers])
    among = connection.dialect.any_of("snapshot_id", "gone")
    given = {"catalog": catalog_id, "gone": connection.dialect.array(sorted(numbers))}
    return [
        Statement("DELETE FROM ducklake_expired_snapshots WHERE catalog_id = :catalog", given),
        Insert(
            "ducklake_expired_snapshots",
            _COLUMNS,
            [(catalog_id, one.begin_snapshot, one.end_snapshot, one.begin_time) for one in runs],
        ),
        Statement(
            f"DELETE FROM ducklake_snapshot_changes WHERE catalog_id = :catalog AND {among}", given
        ),
        # A snapshot may belong to other catalogs too: forks created in a batch share one.
        Statement(
            f"DELETE FROM ducklake_snapshot WHERE {among} AND NOT EXISTS (SELECT h.catalog_id FROM"
            " ducklake_snapshot_changes h WHERE h.snapshot_id = ducklake_snapshot.snapshot_id)",
            given,
        ),
    ]


def _runs(connection: Connection, catalog_id: CatalogId) -> list[Run]:
    rows = connection.fetch(
        f"SELECT begin_snapshot, end_snapshot, {connection.dialect.time('begin_time')}"
        " FROM ducklake_expired_snapshots WHERE catalog_id = :catalog",
        catalog=catalog_id,
    )
    return [Run(begin, end, as_time(moment)) for begin, end, moment in rows]


# Detection


def retained_statement(catalog_id: CatalogId, snapshot_id: SnapshotId) -> Statement:
    """Return the statement that finds a row while a catalog or its ancestor retains a snapshot."""
    return Statement(
        "SELECT 1 FROM ducklake_catalog_lineage l JOIN ducklake_snapshot_changes h"
        " ON h.catalog_id = l.ancestor_id AND h.snapshot_id = :snapshot"
        " WHERE l.catalog_id = :catalog AND l.upto_snapshot >= :snapshot",
        {"catalog": catalog_id, "snapshot": snapshot_id},
    )


def require_retained(found: Sequence[object] | bool, snapshot_id: SnapshotId) -> None:
    """Raise NotFound if `retained_statement` found nothing: rows read may be incomplete."""
    if not found:
        raise NotFound(
            f"No snapshot found at version {snapshot_id}: it has expired since it was looked up.",
            remedy="Read the table again at a snapshot that is retained.",
            version=snapshot_id,
        )


def expired_since_statement(catalog_id: CatalogId, start: SnapshotId) -> Statement:
    """Return the statement that finds runs of expired snapshots that end after `start`."""
    return Statement(
        "SELECT end_snapshot FROM ducklake_expired_snapshots WHERE catalog_id = :catalog"
        " AND :start < end_snapshot",
        {"catalog": catalog_id, "start": start},
        is_plain_read=True,
    )


def has_gaps(
    connection: Connection, catalog_id: CatalogId, seen: SnapshotId, until: SnapshotId
) -> bool:
    """Return whether snapshots of a catalog after `seen`, up to `until`, have expired."""
    return any(
        one.begin_snapshot <= until and seen + 1 < one.end_snapshot
        for one in _runs(connection, catalog_id)
    )


def require_whole_history(
    connection: Connection, catalog_id: CatalogId, start: SnapshotId, until: SnapshotId
) -> None:
    """Raise NotFound if a snapshot from `start` to `until`, or the one before, has expired.

    The snapshot before the first is needed too: it has the rows that the first one ended.
    """
    rows = connection.fetch(
        "SELECT 1 FROM ducklake_catalog_lineage l JOIN ducklake_expired_snapshots g"
        " ON g.catalog_id = l.ancestor_id AND g.begin_snapshot <= l.upto_snapshot"
        " WHERE l.catalog_id = :catalog AND :start <= l.upto_snapshot"
        " AND g.begin_snapshot <= :until AND :start <= g.end_snapshot",
        catalog=catalog_id,
        start=start,
        until=until,
    )
    if rows:
        raise NotFound(
            f"The changes since snapshot {start} are not available: snapshots have expired.",
            remedy="Start after the oldest retained snapshot, or read the whole table.",
            start=start,
        )
