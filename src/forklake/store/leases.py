"""Leases: until when catalogs are kept that have a time to live.

Nobody changes a lease without a lock on the catalog's head: whoever prolongs one keeps the head
from going, whoever drops the catalog takes it. One comes first, the other sees what it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database
from forklake.store.heads import head_statement
from forklake.store.operations import Insert, Statement
from forklake.store.times import as_time
from forklake.store.undone import again_if_undone

_NAME = "ducklake_catalog_lease"


def leases_insert(catalogs: Sequence[CatalogId], expires_at: datetime | None) -> list[Insert]:
    """The leases of new catalogs, if their time is limited."""
    if expires_at is None:
        return []
    rows = [(catalog_id, expires_at) for catalog_id in catalogs]
    return [Insert(_NAME, ("catalog_id", "expires_at"), rows)]


def leases_end(connection: Connection, catalogs: Sequence[CatalogId]) -> Statement:
    """The statement that ends the leases of catalogs which go."""
    dialect = connection.dialect
    return Statement(
        f"DELETE FROM {_NAME} WHERE {dialect.any_of('catalog_id', 'ids')}",
        {"ids": dialect.array(catalogs)},
    )


def find_lease(connection: Connection, catalog_id: CatalogId) -> datetime | None:
    """When the time of a catalog is over, if it has a lease."""
    time = connection.dialect.time("expires_at")
    rows = connection.fetch(
        f"SELECT {time} FROM {_NAME} WHERE catalog_id = :catalog", catalog=catalog_id
    )
    return as_time(rows[0][0]) if rows else None


@again_if_undone
def set_lease(database: Database, catalog_id: CatalogId, expires_at: datetime | None) -> bool:
    """Give a catalog another lease, or none; False if it is gone."""
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
    """End leases whose time was over at a moment; the catalogs, which nobody else can use now.

    Catalogs with a commit, a fork or a prolongation under way are passed over.
    """
    dialect = connection.dialect
    heads = connection.fetch(
        "SELECT catalog_id FROM ducklake_catalog_head WHERE catalog_id IN"
        f" (SELECT catalog_id FROM {_NAME} WHERE expires_at <= :now)"
        f" LIMIT :count{dialect.for_picking}",
        now=now,
        count=limit,
    )
    # Again, under the locks: some may have been prolonged just before.
    ended = connection.fetch(
        f"DELETE FROM {_NAME} WHERE {dialect.any_of('catalog_id', 'ids')} AND expires_at <= :now"
        " RETURNING catalog_id",
        ids=dialect.array([catalog_id for (catalog_id,) in heads]),
        now=now,
    )
    return sorted(catalog_id for (catalog_id,) in ended)
