"""A table of the lake as a query of DuckDB's over its files and the rows in the metastore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from forklake.catalog.compute.projecting import Layout
from forklake.catalog.compute.shapes import Shape, shaped
from forklake.catalog.reading import Snapshotted
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

INSIDE = "_forklake"  # the schema of what views need besides files
# What DuckDB adds to the columns of files: the number of the file in the list, and the position.
_FILE, _POSITION = "file_index", "file_row_number"


class Relation:
    """One table at one snapshot, in one database of DuckDB's."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, seen: Snapshotted, table: Table
    ) -> None:
        seen.state.require_readable(table)
        self._connection = connection
        self._seen = seen
        self._table = table
        self._fields = seen.state.fields(table)

    def query(self) -> str:
        """The query that gives the table's rows."""
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
        """Unsupported if files hold a column that is named as one of DuckDB's, which tells rows
        apart there; of files that are read together it looks for names in the first."""
        scan = _scan(_text(_plain(file.path)))
        described = self._connection.execute(f"DESCRIBE FROM {scan}").fetchall()
        for name in sorted({folded(str(row[0])) for row in described} & {_FILE, _POSITION}):
            raise Unsupported(
                f"Files of table '{self._table.table_name}' hold a column '{name}', by which DuckDB"
                " itself tells rows.",
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
        """The layout of files that others wrote, and what tells the values that are not in them."""
        assert shape.mapping_id is not None
        mapping, names = self._seen.name_mapping(shape.mapping_id)
        inside = {one.target_field_id: one for one in names if not one.is_partition}
        told = {one.target_field_id: one for one in names if one.is_partition}
        columns = {number: f"c{int(number)}" for number in told}
        layout = Layout(shape.missing, dict(shape.types), inside, columns)
        if not told:
            return layout, ""
        values = self._told(files, told, is_stored=mapping.type == BY_STORED_VALUES)
        name = self._keep(f"values_{number}", values)
        return layout, f" JOIN {name} v ON v.file = f.{_FILE}"

    def _told(
        self, files: Sequence[ScanFile], told: dict[ColumnId, NameMapping], *, is_stored: bool
    ) -> pa.Table:
        """The values of columns that are not in files, as texts."""
        found = (
            self._seen.values_by_column(self._table, (file.file for file in files))
            if is_stored
            else {
                file.file.data_file_id: {
                    number: folder_value(one.source_name, file.path) for number, one in told.items()
                }
                for file in files
            }
        )
        columns: dict[str, Any] = {"file": pa.array(range(len(files)), pa.int64())}
        for number in told:
            values = [found.get(file.file.data_file_id, {}).get(number) for file in files]
            columns[f"c{int(number)}"] = pa.array(values, pa.string())
        return pa.table(columns)

    # Rows of the metastore

    def _of_metastore(self) -> Iterator[str]:
        rows = self._seen.inlined_rows(self._table)
        if not rows:
            return
        name = f"{INSIDE}.rows_{int(self._table.table_id)}"
        columns = ", ".join(f"{quoted(one.name)} {duckdb_type(one)}" for one in self._fields)
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
        places = ", ".join("?" * len(self._fields))
        self._connection.executemany(
            f"INSERT INTO {name} VALUES ({places})",
            [[row.values[one.column_id] for one in self._fields] for row in rows],
        )
        yield f"SELECT * FROM {name}"

    def _keep(self, name: str, rows: pa.Table) -> str:
        """Make rows a table that the view can name."""
        full = f"{INSIDE}.{name}_{int(self._table.table_id)}"
        self._connection.register("_given", rows)
        self._connection.execute(f"CREATE OR REPLACE TABLE {full} AS FROM _given")
        self._connection.unregister("_given")
        return full


def _deleted(files: Sequence[ScanFile]) -> pa.Table:
    """The places of deleted rows: the number of the file, and the position in it."""
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
    """A path as DuckDB takes it."""
    return file_system(path)[1] if is_local(path) else path


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
