"""Snapshots of a catalog: its own, and those of its ancestors up to the fork."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from forklake.errors import NotFound
from forklake.model.changes import parse_changes
from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.snapshots import Head, Snapshot
from forklake.store.database import Connection, Database, Lock
from forklake.store.heads import as_head
from forklake.store.operations import Statement
from forklake.store.times import as_time
from forklake.store.visibility import lineage_cte

_HISTORY = (
    " FROM lineage l JOIN ducklake_snapshot_changes h"
    " ON h.catalog_id = l.ancestor_id AND h.snapshot_id <= l.cap"
    " JOIN ducklake_snapshot s ON s.snapshot_id = h.snapshot_id"
)


def list_snapshots(
    connection: Connection,
    catalog_id: CatalogId,
    *,
    before: int | None = None,
    limit: int | None = None,
) -> list[Snapshot]:
    """Return the snapshots of a catalog, oldest first.

    With `limit`, return only the newest ones; with `before`, only those before that snapshot.
    """
    dialect = connection.dialect
    text = (
        f"WITH {lineage_cte(dialect)}"
        f" SELECT s.snapshot_id, {dialect.time('s.snapshot_time')}, s.schema_version, h.catalog_id,"
        " h.changes_made, h.author, h.commit_message, h.commit_extra_info"
        f"{_HISTORY} ORDER BY s.snapshot_id DESC"
    )
    if limit is not None:
        text += f" LIMIT {int(limit)}"
    newest = FOREVER if before is None else SnapshotId(before - 1)
    rows = connection.fetch(text, catalog=catalog_id, snapshot=newest)
    return [
        Snapshot(number, as_time(moment), version, owner, parse_changes(changes), *info)
        for number, moment, version, owner, changes, *info in reversed(rows)
    ]


def changes_statement(connection: Connection, parameters: Mapping[str, Any]) -> Statement:
    """Return the statement that reads what each snapshot from :start to :snapshot changed."""
    text = (
        f"WITH {lineage_cte(connection.dialect)} SELECT h.snapshot_id, h.changes_made"
        " FROM lineage l JOIN ducklake_snapshot_changes h ON h.catalog_id = l.ancestor_id"
        " AND h.snapshot_id BETWEEN :start AND l.cap"
    )
    return Statement(text, parameters)


def snapshot_at_version(connection: Connection, catalog_id: CatalogId, version: int) -> Head:
    """Return the catalog's newest snapshot that is not after a snapshot of the metastore.

    `version` may be a commit of another catalog: then it stands for this catalog at that moment.
    """
    dialect = connection.dialect
    time = dialect.time("s.snapshot_time")
    found = None
    if _exists(connection, version):
        rows = connection.fetch(
            f"WITH {lineage_cte(dialect)} SELECT s.snapshot_id, s.schema_version, {time}{_HISTORY}"
            " ORDER BY s.snapshot_id DESC LIMIT 1",
            catalog=catalog_id,
            snapshot=version,
        )
        found = as_head(rows)
    if found is None or _expired_after(
        connection, found.snapshot_id, "1 = 1", catalog=catalog_id, snapshot=version
    ):
        raise NotFound(
            f"No snapshot found at version {version}.",
            remedy="List the snapshots of the catalog: `forklake snapshots <catalog>`.",
            version=version,
        )
    return found


def _exists(connection: Connection, version: int) -> bool:
    if not 0 <= version <= FOREVER:
        return False
    text = "SELECT 1 FROM ducklake_snapshot WHERE snapshot_id = :version"
    return bool(connection.fetch(text, version=version))


def snapshot_at_time(connection: Connection, catalog_id: CatalogId, moment: datetime) -> Head:
    """Return the catalog's newest snapshot that is not after a time."""
    dialect = connection.dialect
    time = dialect.time("s.snapshot_time")
    rows = connection.fetch(
        f"WITH {lineage_cte(dialect)} SELECT s.snapshot_id, s.schema_version, {time}{_HISTORY}"
        " WHERE s.snapshot_time <= :moment ORDER BY s.snapshot_id DESC LIMIT 1",
        catalog=catalog_id,
        snapshot=FOREVER,
        moment=moment,
    )
    found = as_head(rows)
    if found is None or _expired_after(
        connection,
        found.snapshot_id,
        "g.begin_time <= :moment",
        catalog=catalog_id,
        snapshot=FOREVER,
        moment=moment,
    ):
        raise NotFound(
            f"No snapshot found at timestamp {moment.isoformat()}.",
            remedy="Choose a later time: the catalog is younger, or its snapshot has expired.",
        )
    return found


def _expired_after(
    connection: Connection, found: SnapshotId, condition: str, **parameters: Any
) -> bool:
    """Return whether a snapshot after the one that was found matched too, but has expired."""
    text = (
        f"WITH {lineage_cte(connection.dialect)} SELECT 1 FROM lineage l"
        " JOIN ducklake_expired_snapshots g ON g.catalog_id = l.ancestor_id"
        f" AND :found < g.begin_snapshot AND g.begin_snapshot <= l.cap AND {condition}"
    )
    return bool(connection.fetch(text, found=found, **parameters))


def first_snapshot_since(
    connection: Connection, catalog_id: CatalogId, moment: datetime
) -> SnapshotId | None:
    """Return the catalog's oldest snapshot that is not before a time, or None."""
    rows = connection.fetch(
        f"WITH {lineage_cte(connection.dialect)} SELECT min(s.snapshot_id){_HISTORY}"
        " WHERE s.snapshot_time >= :moment",
        catalog=catalog_id,
        snapshot=FOREVER,
        moment=moment,
    )
    return None if rows[0][0] is None else SnapshotId(rows[0][0])


def latest_snapshot_of_all(database: Database) -> SnapshotId:
    """Return the newest snapshot N such that every commit up to N is visible and final.

    Ids of different catalogs may become visible out of order: this waits for commits in progress.
    """
    with database.writing() as connection:
        connection.run(connection.lock(Lock.FENCE))
        ((newest,),) = connection.fetch("SELECT max(snapshot_id) FROM ducklake_snapshot")
    return SnapshotId(newest)
