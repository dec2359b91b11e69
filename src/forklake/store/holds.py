"""Holds: forks that belong to a run until it is over.

What such a fork has is not fit for others: the run may fail, and then nobody ever meant it to be
seen. So only the holder merges it, and nobody forks it, until it is released.
"""

from __future__ import annotations

from collections.abc import Sequence

from forklake.errors import Forbidden
from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database, Rows
from forklake.store.operations import Insert, Statement

_NAME = "ducklake_catalog_hold"


def holds_insert(catalogs: Sequence[CatalogId], holder: str) -> Insert:
    """The holds of new forks."""
    return Insert(_NAME, ("catalog_id", "holder"), [(one, holder) for one in catalogs])


def hold_statement(catalog_id: CatalogId) -> Statement:
    """The statement that reads who holds a catalog."""
    text = f"SELECT holder FROM {_NAME} WHERE catalog_id = :catalog"
    return Statement(text, {"catalog": catalog_id}, is_plain_read=True)


def find_holder(connection: Connection, catalog_id: CatalogId) -> str | None:
    """Who holds a catalog, if anybody does."""
    (rows,) = connection.run([hold_statement(catalog_id)])
    return str(rows[0][0]) if rows else None


def release(database: Database, catalog_id: CatalogId) -> None:
    """Let everybody use a catalog."""
    with database.writing() as connection:
        text = f"DELETE FROM {_NAME} WHERE catalog_id = :catalog"
        connection.commit([Statement(text, {"catalog": catalog_id})])


def refuse_held(rows: Rows, name: str, doing: str, *, by: str | None = None) -> None:
    """Forbidden if a catalog is held by somebody else."""
    if rows and rows[0][0] != by:
        raise Forbidden(
            f"The catalog '{name}' belongs to a run and cannot be {doing} by others.",
            remedy="Wait until the run has published it, or use what it was forked from.",
            catalog=name,
        )
