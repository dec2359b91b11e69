"""Holds: forks that belong to a run until it is over.

The content of such a fork is not final: the run may fail, and then its changes must not be visible
anywhere. So only the holder may merge it, and it cannot be forked, until it is released.
"""

from __future__ import annotations

from collections.abc import Sequence

from forklake.errors import Forbidden
from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database, Rows
from forklake.store.operations import Insert, Statement
from forklake.store.schema.catalog_tables import CATALOG_HOLD

_NAME = "ducklake_catalog_hold"


def holds_insert(catalogs: Sequence[CatalogId], holder: str) -> Insert:
    """Return the operation that records the holder of new forks."""
    return Insert(_NAME, CATALOG_HOLD.column_names, [(one, holder) for one in catalogs])


def hold_statement(catalog_id: CatalogId) -> Statement:
    """Return the statement that reads the holder of a catalog."""
    text = f"SELECT holder FROM {_NAME} WHERE catalog_id = :catalog"
    return Statement(text, {"catalog": catalog_id}, is_plain_read=True)


def find_holder(connection: Connection, catalog_id: CatalogId) -> str | None:
    """Return the holder of a catalog, or None."""
    (rows,) = connection.run([hold_statement(catalog_id)])
    return str(rows[0][0]) if rows else None


def release(database: Database, catalog_id: CatalogId) -> None:
    """Remove the hold of a catalog, so that all principals with access can use it."""
    with database.writing() as connection:
        text = f"DELETE FROM {_NAME} WHERE catalog_id = :catalog"
        connection.commit([Statement(text, {"catalog": catalog_id})])


def refuse_held(rows: Rows, name: str, doing: str, *, by: str | None = None) -> None:
    """Raise Forbidden if a catalog is held by another holder than `by`."""
    if rows and rows[0][0] != by:
        raise Forbidden(
            f"The catalog '{name}' belongs to a run and cannot be {doing} by others.",
            remedy="Wait until the run has merged it, or use its parent.",
            catalog=name,
        )
