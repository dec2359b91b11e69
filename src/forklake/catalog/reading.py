"""Reading a catalog at one snapshot: its definitions, files, inlined rows and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from forklake.model.children import (
    Child,
    ColumnMapping,
    FileColumnStatistics,
    FilePartitionValue,
    MacroImplementation,
    MacroParameter,
    NameMapping,
    PartitionColumn,
)
from forklake.model.entities import (
    ColumnStatistics,
    DataFile,
    DeleteFile,
    InlinedDelete,
    InlinedRow,
    InlinedTable,
    Table,
    TableStatistics,
)
from forklake.model.ids import CatalogId, DataFileId, MappingId, SnapshotId
from forklake.model.kinds import (
    COLUMN,
    COLUMN_STATISTICS,
    DATA_FILE,
    DEFINITIONS,
    DELETE_FILE,
    INLINED_DELETE,
    INLINED_TABLE,
    MACRO,
    PARTITION,
    TABLE_STATISTICS,
)
from forklake.model.snapshots import Head
from forklake.model.state import CatalogState
from forklake.store import inlined
from forklake.store.database import Connection, Database
from forklake.store.rows import Reader, child_statement, decoded_children

C = TypeVar("C", bound=Child)


def load_state(
    connection: Connection,
    catalog_id: CatalogId,
    at: Head,
    *,
    inherits: bool,
) -> CatalogState:
    """All definitions at a snapshot: one round trip, and one more for macros and partitionings."""
    rows = Reader(connection, catalog_id, at.snapshot_id, inherits=inherits).many(DEFINITIONS)
    state = CatalogState(catalog_id, at.snapshot_id, at.schema_version)
    parents: list[tuple[type[Child], list[int]]] = [
        (MacroImplementation, [row.macro_id for row in rows[MACRO]]),
        (MacroParameter, [row.macro_id for row in rows[MACRO]]),
        (PartitionColumn, [row.partition_id for row in rows[PARTITION]]),
    ]
    wanted = [(child, ids) for child, ids in parents if ids]
    answers = connection.run([child_statement(child, connection, ids) for child, ids in wanted])
    for (child, _), answer in zip(wanted, answers, strict=True):
        state.add_children(decoded_children(child, answer))
    for kind in DEFINITIONS:
        for row in rows[kind]:
            state.put(row)
    return state


class Snapshotted:
    """A catalog as it was at one snapshot. What it returns never changes."""

    def __init__(self, database: Database, state: CatalogState, *, inherits: bool = True) -> None:
        self._database = database
        self._inherits = inherits
        self.state = state

    @property
    def snapshot_id(self) -> SnapshotId:
        """The snapshot that is read."""
        return self.state.snapshot_id

    def _reader(self, connection: Connection) -> Reader:
        return Reader(connection, self.state.catalog_id, self.snapshot_id, inherits=self._inherits)

    def data_files(self, table: Table) -> list[DataFile]:
        """The data files of a table, in the order in which they were added."""
        with self._database.reading() as connection:
            rows: list[DataFile] = self._reader(connection).rows(DATA_FILE, scope=table.table_id)
        return sorted(rows, key=lambda row: (row.begin_snapshot, row.data_file_id))

    def delete_files(self, table: Table) -> list[DeleteFile]:
        """The delete files in force for a table."""
        with self._database.reading() as connection:
            rows: list[DeleteFile] = self._reader(connection).rows(
                DELETE_FILE, scope=table.table_id
            )
        return sorted(rows, key=lambda row: row.delete_file_id)

    def inlined_deletes(self, table: Table) -> list[InlinedDelete]:
        """The deleted positions that are kept in the metastore."""
        with self._database.reading() as connection:
            rows: list[InlinedDelete] = self._reader(connection).rows(
                INLINED_DELETE, scope=table.table_id
            )
        return sorted(rows, key=lambda row: (row.data_file_id, row.row_position))

    def deletes_of(
        self, table: Table, files: Sequence[DataFileId]
    ) -> tuple[list[DeleteFile], list[InlinedDelete]]:
        """The deletes in force for some data files."""
        with self._database.reading() as connection:
            reader, dialect = self._reader(connection), connection.dialect
            among = {
                "where": dialect.any_of("r.data_file_id", "files"),
                "files": dialect.array(files),
            }
            return (
                reader.rows(DELETE_FILE, scope=table.table_id, **among),
                reader.rows(INLINED_DELETE, scope=table.table_id, **among),
            )

    def inlined_tables(self, table: Table) -> list[InlinedTable]:
        """The tables of the metastore that hold rows of a table."""
        with self._database.reading() as connection:
            rows: list[InlinedTable] = self._reader(connection).rows(
                INLINED_TABLE, scope=table.table_id
            )
        return sorted(rows, key=lambda row: row.schema_version)

    def inlined_rows(self, table: Table) -> list[InlinedRow]:
        """The rows that are kept in the metastore, by row id."""
        tables = self.inlined_tables(table)
        nodes = self.state.beneath(COLUMN, table.table_id)
        types = {column.column_id: column.column_type for column in nodes}
        with self._database.reading() as connection:
            return inlined.read_rows(
                connection, self.state.catalog_id, self.snapshot_id, tables, types
            )

    def statistics(self, table: Table) -> TableStatistics:
        """Rows, bytes and the next row id of a table."""
        with self._database.reading() as connection:
            rows = self._reader(connection).newest(TABLE_STATISTICS, table.table_id)
        return rows[0] if rows else TableStatistics(table_id=table.table_id)

    def column_statistics(self, table: Table) -> list[ColumnStatistics]:
        """Bounds of the columns of a table, where they are known."""
        columns = [column.column_id for column in self.state.beneath(COLUMN, table.table_id)]
        with self._database.reading() as connection:
            rows: list[ColumnStatistics] = self._reader(connection).newest(
                COLUMN_STATISTICS, table.table_id, columns
            )
        return sorted(rows, key=lambda row: row.column_id)

    def file_statistics(
        self, table: Table, files: Sequence[DataFileId]
    ) -> list[FileColumnStatistics]:
        """What the footers of some data files say about their columns."""
        return self._children_of_files(FileColumnStatistics, table, files)

    def partition_values(
        self, table: Table, files: Sequence[DataFileId]
    ) -> list[FilePartitionValue]:
        """The partition values of some data files."""
        return self._children_of_files(FilePartitionValue, table, files)

    def name_mapping(self, mapping_id: MappingId) -> tuple[ColumnMapping, list[NameMapping]]:
        """How the columns of foreign files are found."""
        with self._database.reading() as connection:
            mappings, names = connection.run(
                [child_statement(kind, connection, [mapping_id]) for kind in _MAPPINGS]
            )
        return (
            decoded_children(ColumnMapping, mappings)[0],
            decoded_children(NameMapping, names),
        )

    def _children_of_files(
        self, child: type[C], table: Table, files: Sequence[DataFileId]
    ) -> list[C]:
        with self._database.reading() as connection:
            statement = child_statement(child, connection, files, table_id=table.table_id)
            (rows,) = connection.run([statement])
        return decoded_children(child, rows)


_MAPPINGS: tuple[type[ColumnMapping], type[NameMapping]] = (ColumnMapping, NameMapping)
