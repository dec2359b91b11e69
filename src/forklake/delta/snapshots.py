"""The files of a Delta table at a version, with what is known of their columns, as Arrow.

This is what a reader needs to plan a scan by itself. It comes out of the database column by column,
without an object for any file.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from forklake.catalog.reading import Snapshotted
from forklake.delta.statistics import statistics_leaves
from forklake.model.children import FileColumnStatistics
from forklake.model.entities import DataFile, Table
from forklake.model.ids import ColumnId
from forklake.model.kinds import DATA_FILE, Kind
from forklake.store.operations import Statement
from forklake.store.rows import Reader

FILE = pa.schema(
    {
        "data_file_id": pa.int64(),
        "catalog_id": pa.int64(),
        "path": pa.string(),
        "path_is_relative": pa.bool_(),
        "record_count": pa.int64(),
        "file_size_bytes": pa.int64(),
        "begin_snapshot": pa.int64(),
    }
)
_BOUNDS = pa.schema(
    {
        "data_file_id": pa.int64(),
        "min_value": pa.string(),
        "max_value": pa.string(),
        "null_count": pa.int64(),
        "contains_nan": pa.bool_(),
    }
)


def files_as_arrow(
    view: Snapshotted, table: Table, columns: Sequence[str] | None = None
) -> pa.Table:
    """The data files of a table, a row each, with the bounds of some columns, by default of all.

    Bounds are texts in the lake's form, in columns such as `id.min_value`; deleted rows are not
    taken into account.
    """
    with view.reading() as reader:
        files = fetch_visible(reader, DATA_FILE, table, FILE)
        for path, leaf in statistics_leaves(view.state.fields(table)).items():
            if columns is None or path[0] in columns:
                bounds = fetch_bounds(reader, table, leaf.column_id, files["data_file_id"])
                for name in bounds.column_names:
                    files = files.append_column(f"{'.'.join(path)}.{name}", bounds[name])
    return files


def find_file(view: Snapshotted, table: Table, path: str) -> DataFile | None:
    """The data file of a path, as the metastore has it."""
    with view.reading() as reader:
        found: list[DataFile] = reader.rows(
            DATA_FILE, scope=table.table_id, where="r.path = :path", path=path
        )
    return found[0] if found else None


def fetch_visible(reader: Reader, kind: Kind, table: Table, schema: pa.Schema) -> pa.Table:
    """Some columns of the visible rows of a kind."""
    return fetch_chosen(reader, reader.statement(kind, scope=table.table_id), schema)


def fetch_chosen(reader: Reader, every: Statement, schema: pa.Schema) -> pa.Table:
    """Some columns of what a statement reads."""
    text = f"SELECT {', '.join(schema.names)} FROM ({every.sql}) r"
    return reader.fetch_columns(Statement(text, every.parameters), schema)


def fetch_bounds(
    reader: Reader, table: Table, column_id: ColumnId, numbers: pa.ChunkedArray
) -> pa.Table:
    """What is known of a column in some visible files, a row each, in their order.

    Only rows of files that the catalog sees are read; they are put in order here, which takes less
    time than a join of all columns in the database.
    """
    files = reader.statement(DATA_FILE, scope=table.table_id)
    chosen = ", ".join(f"s.{name}" for name in _BOUNDS.names)
    text = (
        f"SELECT {chosen} FROM {FileColumnStatistics.NAME} s WHERE s.table_id = :scope"
        " AND s.column_id = :column"
        f" AND s.data_file_id IN (SELECT f.data_file_id FROM ({files.sql}) f)"
    )
    rows = reader.fetch_columns(Statement(text, {**files.parameters, "column": column_id}), _BOUNDS)
    return rows.take(pc.index_in(numbers, rows["data_file_id"])).drop(["data_file_id"])
