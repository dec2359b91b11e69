"""Files of a table in columnar form, with the statistics of columns: no Python object per file.

If a table has listings (`catalog.listings`), only files newer than them come from the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from forklake.model.children import FileColumnStatistics
from forklake.model.ids import ColumnId, TableId
from forklake.model.kinds import Kind
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
BOUNDS = pa.schema(
    {
        "min_value": pa.string(),
        "max_value": pa.string(),
        "null_count": pa.int64(),
        "contains_nan": pa.bool_(),
    }
)
_FEW = 10_000  # up to so many files are given by id; otherwise a subquery selects them
_NUMBERED = pa.schema([pa.field("data_file_id", pa.int64()), *BOUNDS])


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """Files as a table like `FILE`, and statistics of columns as tables like `BOUNDS`.

    Row n of every table belongs to the same file.
    """

    files: pa.Table
    bounds: dict[ColumnId, pa.Table]

    def take(self, places: pa.Array) -> KnownFiles:
        """Return the rows at these indices."""
        bounds = {column: known.take(places) for column, known in self.bounds.items()}
        return KnownFiles(self.files.take(places), bounds)


def fetch_visible(reader: Reader, kind: Kind, table_id: TableId, schema: pa.Schema) -> pa.Table:
    """Fetch the columns in `schema` of the visible rows of a kind."""
    return fetch_chosen(reader, reader.statement(kind, scope=table_id), schema)


def fetch_chosen(reader: Reader, every: Statement, schema: pa.Schema) -> pa.Table:
    """Fetch the columns in `schema` of the rows that a statement reads."""
    text = f"SELECT {', '.join(schema.names)} FROM ({every.sql}) r"
    return reader.fetch_columns(Statement(text, every.parameters), schema)


def fetch_bounds(
    reader: Reader, files: Statement, column_id: ColumnId, numbers: pa.ChunkedArray
) -> pa.Table:
    """Fetch the statistics of a column for the files that a statement reads.

    The rows are in the order of the file ids in `numbers`. They are sorted here, which takes less
    time than a join of all columns in the database.
    """
    given = {**files.parameters, "column": column_id}
    among = f"s.data_file_id IN (SELECT f.data_file_id FROM ({files.sql}) f)"
    if len(numbers) <= _FEW:
        among = reader.dialect.any_of("s.data_file_id", "numbers")
        given["numbers"] = reader.dialect.array(numbers.to_pylist())
    text = (
        f"SELECT {', '.join(_NUMBERED.names)} FROM {FileColumnStatistics.NAME} s"
        f" WHERE s.table_id = :scope AND s.column_id = :column AND {among}"
    )
    rows = reader.fetch_columns(Statement(text, given), _NUMBERED)
    return rows.take(pc.index_in(numbers, rows["data_file_id"])).drop(["data_file_id"])


def fetch_known(reader: Reader, files: Statement, columns: Sequence[ColumnId]) -> KnownFiles:
    """Fetch the files that a statement reads, with the statistics of some columns."""
    found = fetch_chosen(reader, files, FILE)
    if not found.num_rows:
        return KnownFiles(found, dict.fromkeys(columns, BOUNDS.empty_table()))
    numbers = found["data_file_id"]
    return KnownFiles(found, {one: fetch_bounds(reader, files, one, numbers) for one in columns})
