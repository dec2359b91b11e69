"""Queries on the Delta tables of a metastore that are not bound to one snapshot."""

from __future__ import annotations

from forklake.model.ids import CatalogId, TableId
from forklake.store.database import Database


def catalogs_with_delta(database: Database) -> list[CatalogId]:
    """Return the catalogs that have Delta tables of their own, not only inherited ones."""
    with database.reading() as connection:
        rows = connection.fetch(
            "SELECT DISTINCT catalog_id FROM dl_tables WHERE end_snapshot IS NULL ORDER BY 1"
        )
    return [CatalogId(number) for (number,) in rows]


def actions_without_version(
    database: Database, catalog_id: CatalogId, table_id: TableId
) -> list[int]:
    """Return versions with actions in a catalog, but no version row there or in an ancestor."""
    with database.reading() as connection:
        rows = connection.fetch(
            "SELECT DISTINCT a.version FROM dl_actions a"
            " WHERE a.catalog_id = :catalog AND a.table_id = :table AND NOT EXISTS ("
            "  SELECT 1 FROM ducklake_catalog_lineage l"
            "  JOIN dl_table_versions v ON v.catalog_id = l.ancestor_id"
            "   AND v.begin_snapshot <= l.upto_snapshot"
            "  WHERE l.catalog_id = a.catalog_id AND v.table_id = a.table_id"
            "   AND v.version = a.version"
            " ) ORDER BY 1",
            catalog=catalog_id,
            table=table_id,
        )
    return [number for (number,) in rows]
