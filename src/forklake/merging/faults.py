"""Validation of tables that two sides changed.

Each side may drop or rename a column that it does not need itself. The two changes together can
leave a table without a column that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from forklake.model.entities import Column, Table
from forklake.model.kinds import COLUMN
from forklake.model.names import folded
from forklake.model.state import CatalogState


def find_faults(state: CatalogState, table: Table, names: Set[str]) -> Iterator[str]:
    """Yield the reasons why a table is invalid in `state`.

    `names` holds all names that its columns have on either side.
    """
    columns: list[Column] = state.beneath(COLUMN, table.table_id)
    parents = {row.parent_column for row in columns}
    if None not in parents:
        yield "both sides together dropped all of its columns"
    for row in columns:
        if row.column_type == "struct" and row.column_id not in parents:
            yield f"both sides together dropped all fields of its column {row.column_name}"
    keys = {key.column_id for key in state.partitioning(table)}
    keys |= {key.column_id for key in state.sort_order(table)}
    if keys - {row.column_id for row in columns}:
        yield "one side dropped a column that the other side partitions or sorts by"
    for name in sorted(names - {folded(row.column_name) for row in columns}):
        if any(state.rules(table).naming(name)):
            yield f"one of its constraints uses the column {name}, which was dropped or renamed"
