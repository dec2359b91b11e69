"""Contents of a catalog at a snapshot as the product shows them, in the form of the model."""

from __future__ import annotations

from typing import Any

from forklake import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model import kinds
from forklake.model.children import MacroImplementation
from forklake.model.entities import Column, Table
from forklake.model.options import CATALOG_SCOPE_ID
from forklake.model.state import CatalogState


def observe(catalog: Catalog, version: int | None = None) -> dict[str, Any]:
    """Return everything that is visible."""
    seen = catalog.now() if version is None else catalog.at(version=version)
    state = seen.state
    _assert_no_orphans(state)
    return {
        "options": state.own_options(CATALOG_SCOPE_ID),
        "schemas": {
            schema.schema_name: {
                "tables": {
                    table.table_name: _table(seen, table)
                    for table in state.tables(schema.schema_name)
                },
                "views": {view.view_name: view.sql for view in state.views(schema.schema_name)},
                "macros": {
                    macro.macro_name: [
                        (
                            one.sql,
                            [
                                parameter.parameter_name
                                for parameter in state.macro_parameters(macro, one.impl_id)
                            ],
                        )
                        for one in state.children(MacroImplementation, macro.macro_id)
                    ]
                    for macro in state.macros(schema.schema_name)
                },
                "tags": state.tags(schema.schema_id),
                "options": state.own_options(schema.schema_id),
            }
            for schema in state.schemas()
        },
    }


def _assert_no_orphans(state: CatalogState) -> None:
    """Check that no visible row belongs to an invisible object."""
    owners = {CATALOG_SCOPE_ID}
    for kind in (kinds.SCHEMA, kinds.TABLE, kinds.VIEW, kinds.MACRO):
        owners.update(kind.identify(row)[0] for row in state.rows(kind))
    for kind in kinds.DEFINITIONS:
        if kind.scope is not None:
            assert {getattr(row, kind.scope) for row in state.rows(kind)} <= owners, kind.name


def type_text(state: CatalogState, table: Table, column: Column) -> str:
    """Return the type of a column, with its fields."""
    fields = state.columns(table, column.column_id)
    if not fields:
        return column.column_type
    inner = ", ".join(f"{one.column_name} {type_text(state, table, one)}" for one in fields)
    return f"{column.column_type}({inner})"


def _table(seen: SnapshotReads, table: Table) -> dict[str, Any]:
    state = seen.state
    columns = state.columns(table)
    names = {column.column_id: column.column_name for column in columns}
    nodes = state.beneath(kinds.COLUMN, table.table_id)
    assert {node.parent_column for node in nodes} <= {None, *(node.column_id for node in nodes)}
    files = seen.data_files(table)
    paths = {file.data_file_id: file.path for file in files}
    deletes = {
        paths[one.data_file_id]: (one.path, one.delete_count) for one in seen.delete_files(table)
    }
    positions: dict[str, list[int]] = {}
    for one in seen.inlined_deletes(table):
        positions.setdefault(paths[one.data_file_id], []).append(one.row_position)
    statistics = seen.statistics(table)
    return {
        "columns": [
            (
                column.column_name,
                type_text(state, table, column),
                column.nulls_allowed,
                column.default_value,
                column.initial_default,
                state.column_tags(column),
            )
            for column in columns
        ],
        "tags": state.tags(table.table_id),
        "options": state.own_options(table.table_id),
        "partitioning": [
            (names[key.column_id], key.transform) for key in state.partitioning(table)
        ],
        "files": {
            file.path: (
                file.record_count,
                file.row_id_start,
                deletes.get(file.path),
                positions.get(file.path, []),
            )
            for file in files
        },
        "rows": {
            row.row_id: {name: row.values.get(number) for number, name in names.items()}
            for row in seen.inlined_rows(table)
        },
        "statistics": (
            statistics.record_count,
            statistics.next_row_id,
            statistics.file_size_bytes,
        ),
        "bounds": {
            names[row.column_id]: (int(row.min_value), int(row.max_value))
            for row in seen.column_statistics(table)
            if row.column_id in names and row.min_value is not None and row.max_value is not None
        },
    }
