"""DuckDB queries that read a table of a catalog: its files and its inlined rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.local.compute.inlined import inlined_columns
from forklake.engines.local.compute.projection import Layout
from forklake.engines.local.compute.shapes import Shape, shaped
from forklake.errors import Unsupported
from forklake.files.deletes import read_positions
from forklake.files.paths import folder_value
from forklake.files.systems import file_system, is_local
from forklake.model.children import BY_STORED_VALUES, NameMapping
from forklake.model.duckdb_types import duckdb_type
from forklake.model.entities import Table
from forklake.model.files import SNAPSHOT_ID
from forklake.model.ids import ColumnId
from forklake.model.names import folded, quoted
from forklake.model.scans import ScanFile

INSIDE = "_forklake"  # schema of helper tables for the views
# Virtual columns of DuckDB: the index of the file in the list, and the row number in the file.
_FILE, _POSITION = "file_index", "file_row_number"


class Relation:
    """One table at one snapshot, as a query for one DuckDB database."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, seen: SnapshotReads, table: Table
    ) -> None:
        seen.state.require_readable(table)
        self._connection = connection
        self._seen = seen
        self._table = table
        self._fields = seen.state.fields(table)

    def query(self) -> str:
        """Return the query for the rows of the table, after creating its helper tables."""
        shapes = shaped(self._seen, self._table, self._fields)
        parts = [
            self._of_files(number, shape, files)
            for number, (shape, files) in enumerate(shapes.items())
        ]
        parts += self._of_metastore()
        return " UNION ALL ".join(parts) or self._nothing()

    def _nothing(self) -> str:
        columns = ", ".join(
            f"CAST(NULL AS {duckdb_type(one)}) AS {quoted(one.name)}" for one in self._fields
        )
        return f"SELECT {columns} WHERE false"

    # Files

    def _of_files(self, number: int, shape: Shape, files: Sequence[ScanFile]) -> str:
        layout = Layout(shape.missing, dict(shape.types))
        joined = ""
        if shape.mapping_id is not None:
            layout, joined = self._mapped(number, shape, files)
        columns = ", ".join(layout.column(one) for one in self._fields)
        paths = ", ".join(_text(_plain(file.path)) for file in files)
        conditions = list(self._conditions(number, shape, files))
        if joined or shape.has_deletes:
            self._require_own_names(files[0])
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {columns} FROM {_scan(paths)} f{joined}{where}"

    def _require_own_names(self, file: ScanFile) -> None:
        """Raise Unsupported if a column has the name of a virtual column that identifies rows.

        Only the first file is checked: files that are read together have the same columns.
        """
        scan = _scan(_text(_plain(file.path)))
        described = self._connection.execute(f"DESCRIBE FROM {scan}").fetchall()
        for name in sorted({folded(str(row[0])) for row in described} & {_FILE, _POSITION}):
            raise Unsupported(
                f"Files of table '{self._table.table_name}' have a column '{name}', a name that"
                " DuckDB uses to identify rows.",
                remedy="Read the table with Spark.",
            )

    def _conditions(self, number: int, shape: Shape, files: Sequence[ScanFile]) -> Iterator[str]:
        if shape.is_partial:
            yield f"f.{SNAPSHOT_ID} <= {int(self._seen.snapshot_id)}"
        if shape.has_deletes:
            name = self._keep(f"deletes_{number}", _deleted(files))
            yield (
                f"NOT EXISTS (SELECT 1 FROM {name} d"
                f" WHERE d.file = f.{_FILE} AND d.pos = f.{_POSITION})"
            )

    def _mapped(self, number: int, shape: Shape, files: Sequence[ScanFile]) -> tuple[Layout, str]:
        """Return the layout of files from other writers, and a join for values outside of them."""
        assert shape.mapping_id is not None
        mapping, names = self._seen.name_mapping(shape.mapping_id)
        inside = {one.target_field_id: one for one in names if not one.is_partition}
        outside = {one.target_field_id: one for one in names if one.is_partition}
        columns = {number: f"c{int(number)}" for number in outside}
        layout = Layout(shape.missing, dict(shape.types), inside, columns)
        if not outside:
            return layout, ""
        values = self._outside_values(files, outside, is_stored=mapping.type == BY_STORED_VALUES)
        name = self._keep(f"values_{number}", values)
        return layout, f" JOIN {name} v ON v.file = f.{_FILE}"

    def _outside_values(
        self, files: Sequence[ScanFile], outside: dict[ColumnId, NameMapping], *, is_stored: bool
    ) -> pa.Table:
        """Return the values of columns that the files lack, as texts, with a row for each file."""
        found = (
            self._seen.values_by_column(self._table, (file.file for file in files))
            if is_stored
            else {
                file.file.data_file_id: {
                    number: folder_value(one.source_name, file.path)
                    for number, one in outside.items()
                }
                for file in files
            }
        )
        columns: dict[str, Any] = {"file": pa.array(range(len(files)), pa.int64())}
        for number in outside:
            values = [found.get(file.file.data_file_id, {}).get(number) for file in files]
            columns[f"c{int(number)}"] = pa.array(values, pa.string())
        return pa.table(columns)

    # Inlined rows

    def _of_metastore(self) -> Iterator[str]:
        rows = self._seen.inlined_rows(self._table)
        if not rows:
            return
        columns = ", ".join(
            f"CAST({quoted(one.name)} AS {duckdb_type(one)}) AS {quoted(one.name)}"
            for one in self._fields
        )
        name = self._keep("rows", inlined_columns(self._fields, rows), columns)
        yield f"SELECT * FROM {name}"

    def _keep(self, name: str, rows: pa.Table, columns: str = "*") -> str:
        """Create a helper table with these rows; return its name."""
        full = f"{INSIDE}.{name}_{int(self._table.table_id)}"
        self._connection.register("_given", rows)
        self._connection.execute(f"CREATE OR REPLACE TABLE {full} AS SELECT {columns} FROM _given")
        self._connection.unregister("_given")
        return full


def _deleted(files: Sequence[ScanFile]) -> pa.Table:
    """Return the deleted rows: the index of the file, and the position in it."""
    tables = []
    for number, file in enumerate(files):
        positions = [pa.array(file.deleted_positions, pa.int64())]
        if file.delete_path is not None:
            positions.append(pa.array(read_positions(file.delete_path, file.path), pa.int64()))
        found = pa.concat_arrays(positions)
        tables.append(pa.table({"file": pa.repeat(pa.scalar(number), len(found)), "pos": found}))
    return pa.concat_tables(tables)


def _scan(paths: str) -> str:
    return f"read_parquet([{paths}], hive_partitioning = false)"


def _plain(path: str) -> str:
    """Return a path in the form that DuckDB accepts."""
    return file_system(path)[1] if is_local(path) else path


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
