"""Index of data paths, which finds those around and within a new one."""

from __future__ import annotations

from forklake.store.database import Connection
from forklake.store.migrations.steps import add_indexes
from forklake.store.schema.catalog_tables import CATALOG


def apply(connection: Connection) -> None:
    """Create the index."""
    add_indexes(connection, CATALOG, ["ducklake_catalog_data_path"])
