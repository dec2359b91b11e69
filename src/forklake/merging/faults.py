"""What is wrong with a table that two sides changed: columns that it needs and does not have.

Each side may drop or rename a column that it does not need itself. Together that can be too much.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from forklake.model.entities import Column, Table
from forklake.model.kinds import COLUMN
from forklake.model.names import folded
from forklake.model.state import CatalogState


def faults(state: CatalogState, table: Table, known: Set[str]) -> Iterator[str]:
    """Why a table cannot be as it is in a state; `known` are names that its columns had."""
    columns: list[Column] = state.beneath(COLUMN, table.table_id)
    parents = {row.parent_column for row in columns}
    if None not in parents:
        yield "none of its columns is left"
    for row in columns:
        if row.column_type == "struct" and row.column_id not in parents:
            yield f"no field of its column {row.column_name} is left"
    keys = {key.column_id for key in state.partitioning(table)}
    keys |= {key.column_id for key in state.sort_order(table)}
    if keys - {row.column_id for row in columns}:
        yield "one side dropped a column by which the other partitions or sorts"
    for name in sorted(known - {folded(row.column_name) for row in columns}):
        if any(state.rules(table).naming(name)):
            yield f"a rule for its rows names the column {name}, which is gone"
