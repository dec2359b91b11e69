"""Heads of catalogs: reading and locking them, and moving them to a new snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forklake.model.changes import Change, format_changes
from forklake.model.ids import CatalogId
from forklake.model.snapshots import Head
from forklake.store.database import Connection, Rows
from forklake.store.operations import Allocation, Insert, Statement
from forklake.store.schema.catalog_tables import CATALOG_HEAD, SNAPSHOT
from forklake.store.schema.definition_tables import SCHEMA_VERSIONS
from forklake.store.times import after, as_time


def head_statement(connection: Connection, catalog_id: CatalogId, lock: str = "") -> Statement:
    """Return the statement that reads a head; `lock` is one of the dialect's row locks."""
    time = connection.dialect.time("snapshot_time")
    return Statement(
        f"SELECT snapshot_id, schema_version, {time} FROM ducklake_catalog_head"
        f" WHERE catalog_id = :catalog{lock}",
        {"catalog": catalog_id},
    )


def queue_for_head(connection: Connection, catalog_id: CatalogId) -> Statement:
    """Return the statement by which a commit queues for a catalog, locks its head and reads it.

    On PostgreSQL an advisory lock, taken while the row is looked up, makes the queue first come,
    first served. The row lock, taken after it, makes it safe and reads the newest row version.
    """
    locks, keys = connection.queue_locks(catalog_id)
    time = connection.dialect.time("snapshot_time")
    return Statement(
        f"SELECT snapshot_id, schema_version, {time}{locks} FROM ducklake_catalog_head"
        f" WHERE catalog_id = :catalog{connection.dialect.for_commit}",
        {"catalog": catalog_id} | keys,
    )


def as_head(rows: Rows) -> Head | None:
    """Return the head in the result of a statement, or None."""
    if not rows:
        return None
    snapshot_id, schema_version, moment, *_ = rows[0]
    return Head(snapshot_id, schema_version, as_time(moment))


def find_head(connection: Connection, catalog_id: CatalogId) -> Head | None:
    """Return the newest snapshot of a live catalog, or None if it was dropped."""
    (rows,) = connection.run([head_statement(connection, catalog_id)])
    return as_head(rows)


def following(head: Head, allocation: Allocation, *, changed: bool = False) -> Head:
    """Return the head after a commit. `changed` gives the definitions a new schema version."""
    return Head(
        allocation.snapshot_id,
        head.schema_version + int(changed),
        after(head.snapshot_time, allocation.now),
    )


def snapshot_insert(allocation: Allocation, head: Head) -> Insert:
    """Return the operation that adds the row of a new snapshot."""
    return Insert(
        SNAPSHOT.name,
        SNAPSHOT.column_names,
        [
            (
                head.snapshot_id,
                head.snapshot_time,
                head.schema_version,
                allocation.next_entity_id,
                allocation.next_file_id,
            )
        ],
    )


def changes_insert(catalogs: Sequence[CatalogId], head: Head, changes: Iterable[Change]) -> Insert:
    """Return the operation that records whose snapshot it is and what it changed."""
    text = format_changes(changes)
    return Insert(
        "ducklake_snapshot_changes",
        ("catalog_id", "snapshot_id", "changes_made"),
        [(catalog_id, head.snapshot_id, text) for catalog_id in catalogs],
    )


def versions_insert(catalogs: Sequence[CatalogId], head: Head) -> Insert:
    """Return the operation that records the schema version that begins with a snapshot."""
    return Insert(
        SCHEMA_VERSIONS.name,
        SCHEMA_VERSIONS.column_names,
        [(catalog_id, head.snapshot_id, head.schema_version) for catalog_id in catalogs],
    )


def heads_insert(catalogs: Sequence[CatalogId], head: Head) -> Insert:
    """Return the operation that adds the heads of new catalogs."""
    return Insert(
        CATALOG_HEAD.name,
        CATALOG_HEAD.column_names,
        [
            (catalog_id, head.snapshot_id, head.schema_version, head.snapshot_time)
            for catalog_id in catalogs
        ],
    )


def move_head(catalog_id: CatalogId, head: Head) -> Statement:
    """Return the statement that makes a snapshot the newest of a catalog."""
    return Statement(
        "UPDATE ducklake_catalog_head SET snapshot_id = :snapshot, schema_version = :version,"
        " snapshot_time = :moment WHERE catalog_id = :catalog",
        {
            "snapshot": head.snapshot_id,
            "version": head.schema_version,
            "moment": head.snapshot_time,
            "catalog": catalog_id,
        },
    )
