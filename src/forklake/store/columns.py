"""Column numbers: the highest that a table ever gave out, dropped columns included."""

from __future__ import annotations

from forklake.model.ids import FOREVER, CatalogId, TableId
from forklake.store.database import Connection
from forklake.store.visibility import lineage_cte


def highest_column_id(connection: Connection, catalog_id: CatalogId, table_id: TableId) -> int:
    """The highest column id of a table in this catalog's history; 0 if there is none."""
    rows = connection.fetch(
        f"WITH {lineage_cte(connection.dialect)} SELECT max(c.column_id) FROM lineage l"
        " JOIN ducklake_column c ON c.catalog_id = l.ancestor_id AND c.table_id = :scope"
        " AND c.begin_snapshot <= l.cap",
        catalog=catalog_id,
        snapshot=FOREVER,
        scope=table_id,
    )
    return int(rows[0][0] or 0)
