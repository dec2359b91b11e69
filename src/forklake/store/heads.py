"""The head of a catalog: reading it, locking it, and moving it to a new snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from forklake.model.changes import Change, format_changes
from forklake.model.ids import CatalogId
from forklake.model.snapshots import Head
from forklake.store.database import Connection, Lock
from forklake.store.operations import Allocation, Insert, Operation, Statement


def find_head(connection: Connection, catalog_id: CatalogId) -> Head | None:
    """The newest snapshot of a live catalog."""
    rows = connection.fetch(
        "SELECT snapshot_id, schema_version FROM ducklake_catalog_head WHERE catalog_id = :catalog",
        catalog=catalog_id,
    )
    return Head(*rows[0]) if rows else None


def lock_head(connection: Connection, catalog_id: CatalogId) -> list[Operation]:
    """The operations that put a writer in the catalog's line and read its head; head last.

    The advisory lock makes the line first come, first served; the row lock makes it safe.
    """
    return [
        *connection.lock(Lock.QUEUE, catalog_id),
        *connection.lock(Lock.FENCE, shared=True),
        Statement(
            "SELECT snapshot_id, schema_version FROM ducklake_catalog_head"
            f" WHERE catalog_id = :catalog{connection.dialect.for_commit}",
            {"catalog": catalog_id},
        ),
    ]


def snapshot_insert(allocation: Allocation, schema_version: int, moment: datetime) -> Insert:
    """The row of a new snapshot."""
    return Insert(
        "ducklake_snapshot",
        ("snapshot_id", "snapshot_time", "schema_version", "next_catalog_id", "next_file_id"),
        [
            (
                allocation.snapshot_id,
                moment,
                schema_version,
                allocation.next_entity_id,
                allocation.next_file_id,
            )
        ],
    )


def changes_insert(
    catalogs: Sequence[CatalogId], allocation: Allocation, changes: Iterable[Change]
) -> Insert:
    """Whose snapshot it is, and what it changed."""
    text = format_changes(changes)
    return Insert(
        "ducklake_snapshot_changes",
        ("catalog_id", "snapshot_id", "changes_made"),
        [(catalog_id, allocation.snapshot_id, text) for catalog_id in catalogs],
    )


def versions_insert(catalogs: Sequence[CatalogId], head: Head) -> Insert:
    """From this snapshot on, the definitions have this version."""
    return Insert(
        "ducklake_schema_versions",
        ("catalog_id", "begin_snapshot", "schema_version"),
        [(catalog_id, head.snapshot_id, head.schema_version) for catalog_id in catalogs],
    )


def move_head(catalog_id: CatalogId, head: Head) -> Statement:
    """Make a snapshot the newest of a catalog."""
    return Statement(
        "UPDATE ducklake_catalog_head SET snapshot_id = :snapshot, schema_version = :version"
        " WHERE catalog_id = :catalog",
        {"snapshot": head.snapshot_id, "version": head.schema_version, "catalog": catalog_id},
    )
