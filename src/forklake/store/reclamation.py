"""Reclaiming: physical deletion of the rows of dropped catalogs, many catalogs at a time.

All snapshots of a dropped catalog are deleted. Rows that live forks can see stay; they are deleted
when the last of these forks is dropped and reclaimed. The lineage row at depth 0, unbounded until
then, marks a catalog as not yet reclaimed. It is changed last, so that an interrupted run is
repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from forklake.model.ids import FOREVER, CatalogId
from forklake.store.adoption import forgetting_merges
from forklake.store.catalogs import CATALOG_COLUMNS, CatalogRow
from forklake.store.database import Connection, Database, Lock
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.operations import Operation, Statement
from forklake.store.phases import reached
from forklake.store.sweep import sweep

# The bound of a dropped catalog that was reclaimed, but of which live forks still read rows.
_DONE = 0


@again_if_undone
def reclaim_dropped(database: Database, limit: int) -> list[CatalogId]:
    """Reclaim dropped catalogs, youngest first, and return them."""
    with database.reading() as connection:
        catalogs = _to_reclaim(connection, limit)
        if not catalogs:
            return []
        reached("reclaim.begun")
        ancestors = _ancestors(connection, catalogs)
        # Decided before the sweep, and final: a dropped catalog without readers gets no new ones.
        unread = _dropped(connection, catalogs, ancestors, are_read=False)
    with database.writing() as connection:
        connection.commit(_forgetting(connection, catalogs))
        reached("reclaim.forgotten")
    # Forks before their ancestors, whose rows may be deleted once no fork needs them.
    sweep(database, catalogs)
    sweep(database, sorted(set(ancestors) - set(catalogs), reverse=True))
    reached("reclaim.swept")
    with database.writing() as connection:
        connection.run(connection.lock(Lock.SWEEP))  # a fork may be materialized concurrently
        read = _dropped(connection, catalogs, ancestors, are_read=True)
        connection.commit(_closing(connection, unread, read))
        reached("reclaim.committed")
    return catalogs


def _to_reclaim(connection: Connection, limit: int) -> list[CatalogId]:
    rows = connection.fetch(
        "SELECT l.catalog_id FROM ducklake_catalog_lineage l LEFT JOIN ducklake_catalog_head h"
        " ON h.catalog_id = l.catalog_id WHERE l.depth = 0 AND h.catalog_id IS NULL"
        " AND l.upto_snapshot = :forever ORDER BY l.catalog_id DESC LIMIT :count",
        forever=FOREVER,
        count=limit,
    )
    return [number for (number,) in rows]


def _ancestors(connection: Connection, catalogs: Sequence[CatalogId]) -> list[CatalogId]:
    dialect = connection.dialect
    rows = connection.fetch(
        "SELECT DISTINCT ancestor_id FROM ducklake_catalog_lineage WHERE depth > 0"
        f" AND {dialect.any_of('catalog_id', 'catalogs')}",
        catalogs=dialect.array(catalogs),
    )
    return [number for (number,) in rows]


def _forgetting(connection: Connection, catalogs: Sequence[CatalogId]) -> list[Operation]:
    """Return the operations that delete all snapshots of catalogs from their history."""
    dialect = connection.dialect
    among = dialect.any_of("catalog_id", "catalogs")
    snapshots = connection.fetch(
        f"SELECT DISTINCT snapshot_id FROM ducklake_snapshot_changes WHERE {among}",
        catalogs=dialect.array(catalogs),
    )
    given = {
        "catalogs": dialect.array(catalogs),
        "snapshots": dialect.array([number for (number,) in snapshots]),
        "forever": FOREVER,
    }
    texts = [
        "INSERT INTO ducklake_expired_snapshots (catalog_id, begin_snapshot, end_snapshot,"
        " begin_time) SELECT h.catalog_id, min(s.snapshot_id), :forever, min(s.snapshot_time)"
        " FROM ducklake_snapshot_changes h JOIN ducklake_snapshot s"
        " ON s.snapshot_id = h.snapshot_id"
        f" WHERE {dialect.any_of('h.catalog_id', 'catalogs')} GROUP BY h.catalog_id",
        f"DELETE FROM ducklake_snapshot_changes WHERE {among}",
        f"DELETE FROM ducklake_idempotency_key WHERE {among}",
        f"DELETE FROM ducklake_snapshot WHERE {dialect.any_of('snapshot_id', 'snapshots')}"
        " AND NOT EXISTS (SELECT h.catalog_id FROM ducklake_snapshot_changes h"
        " WHERE h.snapshot_id = ducklake_snapshot.snapshot_id)",
    ]
    forgotten = [Statement(text, given) for text in texts]
    return [*forgotten, *forgetting_merges(connection, given["catalogs"])]


def _dropped(
    connection: Connection,
    catalogs: Sequence[CatalogId],
    ancestors: Sequence[CatalogId],
    *,
    are_read: bool,
) -> list[CatalogId]:
    """Return those catalogs, and those reclaimed ancestors, that live forks do or do not read."""
    dialect = connection.dialect
    rows = connection.fetch(
        f"SELECT l.catalog_id FROM ducklake_catalog_lineage l WHERE {'' if are_read else 'NOT '}"
        "EXISTS (SELECT 1 FROM ducklake_catalog_lineage f JOIN ducklake_catalog_head h"
        " ON h.catalog_id = f.catalog_id WHERE f.ancestor_id = l.catalog_id AND f.depth > 0)"
        f" AND l.depth = 0 AND ({dialect.any_of('l.catalog_id', 'catalogs')}"
        f" OR (l.upto_snapshot = {_DONE} AND {dialect.any_of('l.catalog_id', 'ancestors')}))",
        catalogs=dialect.array(catalogs),
        ancestors=dialect.array(ancestors),
    )
    return [number for (number,) in rows]


def _closing(
    connection: Connection, unread: Sequence[CatalogId], read: Sequence[CatalogId]
) -> list[Operation]:
    """Return the operations that delete unread catalogs and mark the others as reclaimed."""
    dialect = connection.dialect
    among = dialect.any_of("catalog_id", "catalogs")
    gone = {"catalogs": dialect.array(unread)}
    return [
        Statement(f"DELETE FROM ducklake_expired_snapshots WHERE {among}", gone),
        Statement(f"DELETE FROM ducklake_catalog_lineage WHERE {among}", gone),
        Statement(
            f"UPDATE ducklake_catalog_lineage SET upto_snapshot = {_DONE}"
            f" WHERE depth = 0 AND {among}",
            {"catalogs": dialect.array(read)},
        ),
    ]


def owners_of_scheduled_files(connection: Connection, limit: int) -> list[CatalogRow]:
    """Return dropped catalogs that have files scheduled for deletion."""
    chosen = ", ".join(f"c.{column}" for column in CATALOG_COLUMNS)
    rows = connection.fetch(
        f"SELECT {chosen}, c.end_snapshot FROM ducklake_catalog c WHERE c.path IS NOT NULL"
        " AND c.data_path IS NOT NULL AND c.end_snapshot IS NOT NULL AND c.catalog_id IN"
        " (SELECT catalog_id FROM ducklake_files_scheduled_for_deletion) LIMIT :count",
        count=limit,
    )
    return [CatalogRow(*row) for row in rows]
