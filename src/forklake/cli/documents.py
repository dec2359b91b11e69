"""The JSON documents of the command line: their keys are part of the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import iso_time
from forklake.model.types import ColumnType

if TYPE_CHECKING:
    from forklake.catalog.reading import Snapshotted
    from forklake.model.entities import Column, Table
    from forklake.model.snapshots import Snapshot
    from forklake.model.state import CatalogState
    from forklake.store.catalogs import CatalogRow

Document = dict[str, Any]


def catalog_document(row: CatalogRow) -> Document:
    """A catalog; a fork names the catalog and the snapshot that it was forked from."""
    return {
        "name": row.catalog_name,
        "catalog_id": row.catalog_id,
        "uuid": str(row.catalog_uuid),
        "begin_snapshot": row.begin_snapshot,
        "parent_catalog_id": row.parent_catalog_id,
        "fork_snapshot": row.fork_snapshot,
        "data_path": row.data_path,
        "path": row.path,
    }


def snapshot_document(snapshot: Snapshot) -> Document:
    """A snapshot; `catalog_id` is the catalog whose commit it was."""
    return {
        "snapshot_id": snapshot.snapshot_id,
        "time": iso_time(snapshot.snapshot_time),
        "schema_version": snapshot.schema_version,
        "catalog_id": snapshot.catalog_id,
        "changes": [str(change) for change in snapshot.changes],
        "author": snapshot.author,
        "message": snapshot.commit_message,
        "extra_info": snapshot.commit_extra_info,
    }


def table_document(seen: Snapshotted, table: Table) -> Document:
    """A table with its columns, and the rows and bytes that it holds."""
    state = seen.state
    statistics = seen.statistics(table)
    return {
        "schema": state.schema_of(table).schema_name,
        "table": table.table_name,
        "table_id": table.table_id,
        "uuid": str(table.table_uuid),
        "columns": [
            {
                "name": column.column_name,
                "column_id": column.column_id,
                "type": str(_column_type(state, table, column)),
                "nulls_allowed": column.nulls_allowed,
            }
            for column in state.columns(table)
        ],
        "rows": statistics.record_count,
        "size_bytes": statistics.file_size_bytes,
    }


def _column_type(state: CatalogState, table: Table, column: Column) -> ColumnType:
    fields = state.columns(table, column.column_id)
    parts = ((field.column_name, _column_type(state, table, field)) for field in fields)
    return ColumnType(column.column_type, tuple(parts))
