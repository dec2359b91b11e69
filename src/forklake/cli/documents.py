"""JSON documents of the command line. Their keys are part of the public interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import iso_time
from forklake.errors import InvalidInput
from forklake.model.types import ColumnType

if TYPE_CHECKING:
    from datetime import datetime

    from forklake.catalog.service import CatalogHandle
    from forklake.catalog.snapshot_reads import SnapshotReads
    from forklake.model.entities import Column, Table
    from forklake.model.snapshots import Snapshot
    from forklake.model.state import CatalogState
    from forklake.store.catalogs import CatalogRow

Document = dict[str, Any]


def catalog_document(row: CatalogRow) -> Document:
    """Return the document of a catalog. A fork has its parent and the forked snapshot."""
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
    """Return the document of a snapshot. Its `catalog_id` is of the catalog that committed it."""
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


def table_documents(
    catalog: CatalogHandle, version: int | None, moment: datetime | None
) -> tuple[int, list[Document]]:
    """Return the id of a snapshot and the tables of a catalog at it.

    The snapshot is given by `version` or by `moment`; by default it is the current one.
    """
    from forklake.catalog.catalog import Catalog
    from forklake.client.catalogs import RemoteCatalog

    if version is not None and moment is not None:
        raise InvalidInput(
            "Both a version and a timestamp are given.",
            remedy="Pass either --version or --timestamp.",
        )
    if isinstance(catalog, Catalog):
        is_now = version is None and moment is None
        seen = catalog.now() if is_now else catalog.at(version=version, timestamp=moment)
        return seen.snapshot_id, [table_document(seen, one) for one in seen.state.tables()]
    assert isinstance(catalog, RemoteCatalog)
    at = catalog.snapshot_at(moment) if version is None else version
    listed = catalog.tables(version=at)
    described = (catalog.table(one["name"], one["schema_name"], version=at) for one in listed)
    return at, [_convert_table_document(one) for one in described]


def _convert_table_document(found: Document) -> Document:
    """Return the document of a table that a service described."""
    from forklake.client.documents import to_column_type

    columns = [
        {key: column[key] for key in ("name", "column_id", "nulls_allowed")}
        | {"type": str(to_column_type(column["type"]))}
        for column in found["columns"]
    ]
    kept = {key: found[key] for key in ("table_id", "uuid", "rows", "size_bytes")}
    return {"schema": found["schema_name"], "table": found["name"], "columns": columns} | kept


def table_document(seen: SnapshotReads, table: Table) -> Document:
    """Return the document of a table with its columns, row count and size."""
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
