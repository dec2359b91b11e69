"""Leases: the expiry times of catalogs with a time to live.

A lease is only changed under a lock on the catalog's head: extending it takes the lock that keeps
the row from being deleted, dropping the catalog deletes the row. So the two are serialized, and the
second one sees the effect of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.heads import head_statement
from forklake.store.operations import Insert, Statement
from forklake.store.schema.catalog_tables import CATALOG_LEASE
from forklake.store.times import as_time

_NAME = "ducklake_catalog_lease"


def leases_insert(catalogs: Sequence[CatalogId], expires_at: datetime | None) -> list[Insert]:
    """Return the operations that add the leases of new catalogs; none without an expiry time."""
    if expires_at is None:
        return []
    rows = [(catalog_id, expires_at) for catalog_id in catalogs]
    return [Insert(_NAME, CATALOG_LEASE.column_names, rows)]


def leases_end(connection: Connection, catalogs: Sequence[CatalogId]) -> Statement:
    """Return the statement that deletes the leases of catalogs that are dropped."""
    dialect = connection.dialect
    return Statement(
        f"DELETE FROM {_NAME} WHERE {dialect.any_of('catalog_id', 'ids')}",
        {"ids": dialect.array(catalogs)},
    )


def find_lease(connection: Connection, catalog_id: CatalogId) -> datetime | None:
    """Return when a catalog expires, or None."""
    time = connection.dialect.time("expires_at")
    rows = connection.fetch(
        f"SELECT {time} FROM {_NAME} WHERE catalog_id = :catalog", catalog=catalog_id
    )
    return as_time(rows[0][0]) if rows else None


@again_if_undone
def set_lease(database: Database, catalog_id: CatalogId, expires_at: datetime | None) -> bool:
    """Set or remove the lease of a catalog. Return False if the catalog does not exist."""
    upsert = (
        f"INSERT INTO {_NAME} (catalog_id, expires_at) VALUES (:catalog, :moment)"
        " ON CONFLICT (catalog_id) DO UPDATE SET expires_at = excluded.expires_at"
    )
    remove = f"DELETE FROM {_NAME} WHERE catalog_id = :catalog"
    text, given = (remove, {}) if expires_at is None else (upsert, {"moment": expires_at})
    with database.writing() as connection:
        head = head_statement(connection, catalog_id, connection.dialect.for_fork)
        heads, _ = connection.run([head, Statement(text, {"catalog": catalog_id, **given})])
        if heads:
            connection.commit()
        return bool(heads)


def end_expired(connection: Connection, now: datetime, limit: int) -> list[CatalogId]:
    """Delete leases that expired before `now`. Return their catalogs, locked for this transaction.

    Catalogs with a commit, fork or extension in progress are skipped.
    """
    dialect = connection.dialect
    heads = connection.fetch(
        "SELECT catalog_id FROM ducklake_catalog_head WHERE catalog_id IN"
        f" (SELECT catalog_id FROM {_NAME} WHERE expires_at <= :now)"
        f" LIMIT :count{dialect.for_picking}",
        now=now,
        count=limit,
    )
    # Check again under the locks: a lease may have been extended just before.
    ended = connection.fetch(
        f"DELETE FROM {_NAME} WHERE {dialect.any_of('catalog_id', 'ids')} AND expires_at <= :now"
        " RETURNING catalog_id",
        ids=dialect.array([catalog_id for (catalog_id,) in heads]),
        now=now,
    )
    return sorted(catalog_id for (catalog_id,) in ended)
