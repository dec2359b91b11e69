"""Reads of a catalog at one snapshot: definitions, files, inlined rows and statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from forklake.catalog.paths import DataPaths
from forklake.model.children import (
    Child,
    ColumnMapping,
    FileAction,
    FileColumnStatistics,
    FilePartitionValue,
    MacroImplementation,
    MacroParameter,
    NameMapping,
    PartitionColumn,
)
from forklake.model.entities import (
    Column,
    ColumnStatistics,
    DataFile,
    DeleteFile,
    InlinedDelete,
    InlinedRow,
    Table,
    TableStatistics,
)
from forklake.model.fields import Field
from forklake.model.ids import CatalogId, ColumnId, DataFileId, MappingId, PartitionId, SnapshotId
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
from forklake.model.predicates import Anything, Predicate, Question, question
from forklake.model.scans import FoundFile, Outline, ScanFile
from forklake.model.snapshots import Head
from forklake.model.state import CatalogState
from forklake.store import inlined
from forklake.store.database import Connection, Readable
from forklake.store.expired import require_retained, retained_statement
from forklake.store.listings import are_kept
from forklake.store.operations import Statement
from forklake.store.pruning import narrow_files, pruned
from forklake.store.rows import Reader, child_statement, decoded, decoded_children

if TYPE_CHECKING:
    from forklake.catalog.file_columns import KnownFiles

C = TypeVar("C", bound=Child)


def load_state(
    connection: Connection,
    catalog_id: CatalogId,
    at: Head,
    *,
    inherits: bool,
) -> CatalogState:
    """Load all definitions at a snapshot, in one or two round trips."""
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


class SnapshotReads:
    """Reader of a catalog at one snapshot. Its results never change."""

    def __init__(
        self,
        database: Readable,
        state: CatalogState,
        *,
        inherits: bool = True,
        paths: DataPaths | None = None,
    ) -> None:
        self._database = database
        self._inherits = inherits
        self._paths = paths
        self.state = state

    @property
    def snapshot_id(self) -> SnapshotId:
        """The snapshot that is read."""
        return self.state.snapshot_id

    def _reader(self, connection: Connection) -> Reader:
        return Reader(connection, self.state.catalog_id, self.snapshot_id, inherits=self._inherits)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Yield a reader for kinds of rows that have no method here."""
        with self._database.reading() as connection:
            yield self._reader(connection)

    def _retained(self) -> Statement:
        """Return the query that must end every read: rows of expired snapshots may be missing."""
        return retained_statement(self.state.catalog_id, self.snapshot_id)

    def full_path(self, file: DataFile | DeleteFile) -> str:
        """Return the full path of a file."""
        assert self._paths is not None
        return self._paths.full(file)

    def data_files(self, table: Table) -> list[DataFile]:
        """Return the data files of a table, in the order in which they were added."""
        with self._database.reading() as connection:
            rows: list[DataFile] = self._reader(connection).rows(DATA_FILE, scope=table.table_id)
        return sorted(rows, key=_file_order)

    def largest_file(self, table: Table) -> DataFile | None:
        """Return the data file of a table that has the most rows."""
        with self._database.reading() as connection:
            reader = self._reader(connection)
            found = reader.statement(DATA_FILE, scope=table.table_id)
            text = f"{found.sql} ORDER BY r.record_count DESC LIMIT 1"
            rows: list[DataFile] = decoded(DATA_FILE, reader.fetch(replace(found, sql=text)))
        return rows[0] if rows else None

    # Scanning

    def scan_files(self, table: Table, predicate: Predicate | None = None) -> list[ScanFile]:
        """Return data files that may have rows matching a predicate, with deletes and paths."""
        assert self._paths is not None
        return [scan_file(self._paths, one) for one in self.found_files(table, predicate)]

    def found_files(self, table: Table, predicate: Predicate | None = None) -> list[FoundFile]:
        """Return data files that may have rows matching a predicate, with unresolved paths.

        Without a predicate this takes one round trip for files and deletes; with one, a second
        reads the deletes of the files that were found.
        """
        types = {row.column_id: row.column_type for row in self._nodes(table)}
        asked = question(predicate, types) if predicate is not None else Anything()
        with self._database.reading() as connection:
            reader = self._reader(connection)
            files = reader.statement(DATA_FILE, scope=table.table_id)
            if asked == Anything():
                kinds = (DATA_FILE, DELETE_FILE, INLINED_DELETE)
                rest = [reader.statement(kind, scope=table.table_id) for kind in kinds[1:]]
                *answers, retained = connection.run([files, *rest, self._retained()])
                found, deletes, positions = map(decoded, kinds, answers)
            else:
                likely, dialect = self._likely_files(reader, table, asked), connection.dialect
                narrowed = [
                    pruned(one, DATA_FILE.columns, asked, dialect, are_few=bool(likely))
                    for one in likely or [files]
                ]
                answers = connection.run(narrowed)
                found = [row for answer in answers for row in decoded(DATA_FILE, answer)]
                ids = [file.data_file_id for file in found]
                deletes, positions = self._deletes_of(connection, table, ids)
                (retained,) = connection.run([self._retained()])
        require_retained(retained, self.snapshot_id)
        return with_deletes(sorted(found, key=_file_order), deletes, positions)

    def _likely_files(
        self, reader: Reader, table: Table, asked: Question
    ) -> list[Statement] | None:
        """Return statements that read files which may match, if a listing helps to find them."""
        if not are_kept(self._database):
            return None
        from forklake.catalog.listings import likely_files  # imports pyarrow

        return likely_files(reader, table.table_id, asked)

    def file_columns(self, table: Table, columns: Sequence[ColumnId]) -> KnownFiles:
        """Return the data files of a table in columnar form, with statistics of some columns."""
        from forklake.catalog.listings import fetch_files

        with self._database.reading() as connection:
            reader, are_listed = self._reader(connection), are_kept(self._database)
            return fetch_files(reader, table.table_id, columns, are_listed=are_listed)

    def narrowed(
        self, table: Table, files: Sequence[DataFileId], predicate: Predicate
    ) -> set[DataFileId]:
        """Return those of the data files that may have rows matching a predicate.

        The files may have ended already.
        """
        types = {row.column_id: row.column_type for row in self._nodes(table)}
        asked = question(predicate, types)
        if asked == Anything():
            return set(files)
        parameters = {
            "catalog": self.state.catalog_id,
            "snapshot": self.snapshot_id,
            "scope": table.table_id,
        }
        with self._database.reading() as connection:
            return narrow_files(connection, parameters, files, asked)

    def outline(self, table: Table, *, before: SnapshotId) -> Outline:
        """Return a summary of the data files of a table.

        Files from before the snapshot `before` are listed individually, as other special files.
        This takes one round trip, and another one for files with deletes.
        """
        assert self._paths is not None
        with self._database.reading() as connection:
            reader = self._reader(connection)
            files = reader.statement(DATA_FILE, scope=table.table_id)
            total = f"SELECT count(*), coalesce(sum(f.file_size_bytes), 0) FROM ({files.sql}) f"
            statements = [
                Statement(total, files.parameters),
                reader.statement(DATA_FILE, scope=table.table_id, where=_SPECIAL, before=before),
                reader.statement(DELETE_FILE, scope=table.table_id),
                reader.statement(INLINED_DELETE, scope=table.table_id),
            ]
            ((count, size),), *answers = connection.run(statements)
            special, deletes, positions = map(
                decoded, (DATA_FILE, DELETE_FILE, INLINED_DELETE), answers
            )
            known = {file.data_file_id for file in special}
            further = {row.data_file_id for row in [*deletes, *positions]} - known
            if further:
                special += reader.rows(
                    DATA_FILE,
                    scope=table.table_id,
                    where=connection.dialect.any_of("r.data_file_id", "files"),
                    files=connection.dialect.array(sorted(further)),
                )
            (retained,) = connection.run([self._retained()])
        require_retained(retained, self.snapshot_id)
        found = with_deletes(sorted(special, key=_file_order), deletes, positions)
        return Outline(count, int(size), tuple(scan_file(self._paths, one) for one in found))

    def _nodes(self, table: Table) -> list[Column]:
        return self.state.beneath(COLUMN, table.table_id)

    def delete_files(self, table: Table) -> list[DeleteFile]:
        """Return the current delete files of a table."""
        with self._database.reading() as connection:
            rows: list[DeleteFile] = self._reader(connection).rows(
                DELETE_FILE, scope=table.table_id
            )
        return sorted(rows, key=lambda row: row.delete_file_id)

    def inlined_deletes(self, table: Table) -> list[InlinedDelete]:
        """Return the inlined deletes of a table."""
        with self._database.reading() as connection:
            rows: list[InlinedDelete] = self._reader(connection).rows(
                INLINED_DELETE, scope=table.table_id
            )
        return sorted(rows, key=lambda row: (row.data_file_id, row.row_position))

    def deletes_of(
        self, table: Table, files: Sequence[DataFileId]
    ) -> tuple[list[DeleteFile], list[InlinedDelete]]:
        """Return the current deletes of some data files."""
        with self._database.reading() as connection:
            return self._deletes_of(connection, table, files)

    def _deletes_of(
        self, connection: Connection, table: Table, files: Sequence[DataFileId]
    ) -> tuple[list[DeleteFile], list[InlinedDelete]]:
        if not files:
            return [], []
        reader, dialect = self._reader(connection), connection.dialect
        kinds = (DELETE_FILE, INLINED_DELETE)
        statements = [
            reader.statement(
                kind,
                scope=table.table_id,
                where=dialect.any_of("r.data_file_id", "files"),
                files=dialect.array(files),
            )
            for kind in kinds
        ]
        deletes, positions = map(decoded, kinds, connection.run(statements))
        return deletes, positions

    def inlined_rows(self, table: Table, fields: Sequence[Field] | None = None) -> list[InlinedRow]:
        """Return the inlined rows of a table, sorted by row id.

        Args:
            fields: columns to return; defaults to those at this snapshot.
        """
        wanted = self.state.fields(table) if fields is None else fields
        with self._database.reading() as connection:
            named = self._reader(connection).statement(INLINED_TABLE, scope=table.table_id)
            answer, retained = connection.run([named, self._retained()])
            rows: list[InlinedRow] = []
            if tables := decoded(INLINED_TABLE, answer):
                rows = inlined.read_rows(
                    connection, self.state.catalog_id, self.snapshot_id, tables, wanted
                )
                (retained,) = connection.run([self._retained()])
        require_retained(retained, self.snapshot_id)
        return rows

    def statistics(self, table: Table) -> TableStatistics:
        """Return the row count, the bytes and the next row id of a table."""
        with self._database.reading() as connection:
            rows = self._reader(connection).newest(TABLE_STATISTICS, table.table_id)
        return rows[0] if rows else TableStatistics(table_id=table.table_id)

    def column_statistics(self, table: Table) -> list[ColumnStatistics]:
        """Return the known bounds of the columns of a table."""
        columns = [column.column_id for column in self._nodes(table)]
        with self._database.reading() as connection:
            rows: list[ColumnStatistics] = self._reader(connection).newest(
                COLUMN_STATISTICS, table.table_id, columns
            )
        return sorted(rows, key=lambda row: row.column_id)

    def file_statistics(
        self, table: Table, files: Sequence[DataFileId]
    ) -> list[FileColumnStatistics]:
        """Return the column statistics of some data files."""
        return self._children_of_files(FileColumnStatistics, table, files)

    def partition_values(
        self, table: Table, files: Sequence[DataFileId]
    ) -> list[FilePartitionValue]:
        """Return the partition values of some data files."""
        return self._children_of_files(FilePartitionValue, table, files)

    def values_by_column(
        self, table: Table, files: Iterable[DataFile]
    ) -> dict[DataFileId, dict[ColumnId, str | None]]:
        """Return partition values by column, for those data files that have any."""
        numbers = {
            file.data_file_id: file.partition_id for file in files if file.partition_id is not None
        }
        if not numbers:
            return {}
        columns = {
            (one.partition_id, one.partition_key_index): one.column_id
            for one in self.partition_columns(set(numbers.values()))
        }
        found: dict[DataFileId, dict[ColumnId, str | None]] = {one: {} for one in numbers}
        for row in self.partition_values(table, sorted(numbers)):
            column = columns[numbers[row.data_file_id], row.partition_key_index]
            found[row.data_file_id][column] = row.partition_value
        return found

    def partition_columns(
        self, partitionings: Iterable[PartitionId | None]
    ) -> list[PartitionColumn]:
        """Return the keys of some partitionings, including earlier ones."""
        wanted = sorted(one for one in partitionings if one is not None)
        with self._database.reading() as connection:
            (rows,) = connection.run([child_statement(PartitionColumn, connection, wanted)])
        return decoded_children(PartitionColumn, rows)

    def file_actions(self, table: Table, files: Sequence[DataFileId]) -> list[FileAction]:
        """Return the original add actions of some data files in a Delta log."""
        return self._children_of_files(FileAction, table, files)

    def name_mapping(self, mapping_id: MappingId) -> tuple[ColumnMapping, list[NameMapping]]:
        """Return a mapping of column names, and its names."""
        with self._database.reading() as connection:
            mappings, names = connection.run(
                [child_statement(kind, connection, [mapping_id]) for kind in _MAPPINGS]
            )
        return (
            decoded_children(ColumnMapping, mappings)[0],
            decoded_children(NameMapping, names),
        )

    def name_mappings(self, table: Table) -> NameMappings:
        """Return all mappings of a table, including those without live files."""
        columns = ", ".join(ColumnMapping.columns())
        with self._database.reading() as connection:
            rows = connection.fetch(
                f"SELECT {columns} FROM {ColumnMapping.NAME} WHERE table_id = :scope"
                " ORDER BY mapping_id",
                scope=table.table_id,
            )
            found = {one.mapping_id: one for one in decoded_children(ColumnMapping, rows)}
            (rows,) = connection.run([child_statement(NameMapping, connection, list(found))])
        names: dict[MappingId, list[NameMapping]] = {}
        for name in decoded_children(NameMapping, rows):
            names.setdefault(name.mapping_id, []).append(name)
        return {number: (one, names.get(number, [])) for number, one in found.items()}

    def _children_of_files(
        self, child: type[C], table: Table, files: Sequence[DataFileId]
    ) -> list[C]:
        with self._database.reading() as connection:
            statement = child_statement(child, connection, files, table_id=table.table_id)
            (rows,) = connection.run([statement])
        return decoded_children(child, rows)


_SPECIAL = (
    "r.mapping_id IS NOT NULL OR r.partial_file_info IS NOT NULL OR r.begin_snapshot < :before"
)
NameMappings = dict[MappingId, tuple[ColumnMapping, list[NameMapping]]]
_MAPPINGS: tuple[type[ColumnMapping], type[NameMapping]] = (ColumnMapping, NameMapping)


def _file_order(file: DataFile) -> tuple[int, int]:
    return file.begin_snapshot, file.data_file_id


def with_deletes(
    files: Iterable[DataFile],
    delete_files: Iterable[DeleteFile],
    inlined_deletes: Iterable[InlinedDelete],
) -> list[FoundFile]:
    """Combine files with their deletes."""
    deletes = {row.data_file_id: row for row in delete_files}
    positions: dict[DataFileId, list[int]] = {}
    for row in inlined_deletes:
        positions.setdefault(row.data_file_id, []).append(row.row_position)
    ordered = {number: tuple(sorted(places)) for number, places in positions.items()}
    return [
        FoundFile(file, deletes.get(file.data_file_id), ordered.get(file.data_file_id, ()))
        for file in files
    ]


def scan_file(paths: DataPaths, found: FoundFile) -> ScanFile:
    """Resolve the paths of a file and its delete file."""
    delete_file = found.delete_file
    return ScanFile(
        found.file,
        paths.full(found.file),
        delete_file,
        paths.full(delete_file) if delete_file else None,
        found.deleted_positions,
    )
