"""Aggregate queries over the rows of a table, executed by the metadata database.

A table may have a hundred thousand files, of which a page shows only a few figures.
"""

from __future__ import annotations

from typing import Any

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.entities import Table
from forklake.model.kinds import Kind
from forklake.store.database import Rows
from forklake.store.operations import Statement
from forklake.store.rows import Reader


def query_rows(
    catalog: Catalog, seen: SnapshotReads, table: Table, kind: Kind, text: str, **given: Any
) -> Rows:
    """Return the result of a SELECT in which `{rows}` and `{history}` stand for subqueries.

    `{rows}` are the rows that the table has at the snapshot. `{history}` are all that it ever had,
    each with `seen_until`.
    """
    with catalog.database.reading() as connection:
        reader = Reader(connection, catalog.catalog_id, seen.snapshot_id)
        if "{history}" in text:
            found = reader.history(kind, table.table_id, "1 = 1")
        else:
            found = reader.statement(kind, scope=table.table_id)
        sql = text.format(rows=f"({found.sql})", history=f"({found.sql})")
        (rows,) = connection.run([Statement(sql, {**found.parameters, **given})])
    return rows
