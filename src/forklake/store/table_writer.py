"""Writer of table data in a commit: files, deletes, inlined rows and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, TypeVar

from forklake.model.children import FileAction, FileColumnStatistics, FilePartitionValue
from forklake.model.entities import (
    Column,
    ColumnStatistics,
    DeltaVersion,
    InlinedTable,
    TableStatistics,
)
from forklake.model.files import ColumnBounds, NewDataFile
from forklake.model.ids import ColumnId, TableId
from forklake.model.kinds import (
    ALL_FILES,
    COLUMN_STATISTICS,
    CONTENT,
    DATA_FILE,
    DELETE_FILE,
    INLINED_DELETE,
    INLINED_ROW,
    INLINED_TABLE,
    TABLE_STATISTICS,
    Kind,
)
from forklake.model.plan import TableWork
from forklake.model.statistics import TableDelta
from forklake.store import inlined
from forklake.store.database import Connection, Lock
from forklake.store.operations import Insert, Operation, Values
from forklake.store.row_writer import Ledger, unless_none

R = TypeVar("R", TableStatistics, ColumnStatistics)
# The columns of FileColumnStatistics after the key are the fields of ColumnBounds, in order.
bound_values = attrgetter(*(one.name for one in fields(ColumnBounds)))


@dataclass(slots=True)
class KnownTables:
    """Table state read under the lock, or written since; None for what does not exist."""

    statistics: dict[TableId, TableStatistics | None] = field(default_factory=dict)
    bounds: dict[TableId, dict[ColumnId, ColumnStatistics | None]] = field(default_factory=dict)
    inlined: dict[TableId, list[InlinedTable]] = field(default_factory=dict)
    versions: dict[TableId, list[DeltaVersion]] = field(default_factory=dict)  # the newest ones


@dataclass(slots=True, kw_only=True)
class TableWriting:
    """Writes the data of tables, and at the end of a snapshot their statistics."""

    connection: Connection
    ledger: Ledger
    known: KnownTables
    # Statistics including the parts so far: rows and bytes, and bounds of columns of new files.
    totals: dict[TableId, TableStatistics] = field(default_factory=dict)
    widened: dict[TableId, dict[ColumnId, ColumnStatistics]] = field(default_factory=dict)
    # Reserved row ids: first id in the source, number of rows, first id in this catalog.
    moved: dict[TableId, tuple[int, int, int]] = field(default_factory=dict)

    def operations(self, local_id: TableId, work: TableWork) -> Iterator[Operation]:
        """Yield all operations for one table, except those for its statistics."""
        table_id: TableId = self.ledger.entity(local_id)
        start = self._totals(table_id)
        if work.truncates and local_id >= 0:
            yield from self.empty(table_id, CONTENT, ALL_FILES)
        yield from self._end_files(DATA_FILE, work.ended_files)
        yield from self._end_files(DELETE_FILE, work.ended_delete_files)
        yield from self.ledger.end(work.ended_inlined_deletes)
        yield from self._end_inlined_rows(work)
        next_row_id = self._set_aside(table_id, work, start.next_row_id)
        next_row_id = yield from self._add_data_files(table_id, work, next_row_id)
        yield from self._add_deletes(table_id, work)
        next_row_id = yield from self._add_inlined_rows(table_id, work, next_row_id)
        delta = TableDelta(
            rows=sum(file.record_count for _, file in work.data_files)
            + len(work.inlined_rows)
            - work.removed_rows,
            row_ids=next_row_id - start.next_row_id,
            size=sum(file.file_size_bytes for _, file in work.data_files) - work.removed_bytes,
            resets=work.truncates,
        )
        self.totals[table_id] = delta.applied_to(start)
        self._widen(table_id, work)

    def _set_aside(self, table_id: TableId, work: TableWork, next_row_id: int) -> int:
        """Reserve row ids for rows of another catalog. Return the next free one."""
        if work.row_ids is None:
            return next_row_id
        self.moved[table_id] = (work.row_ids.first, work.row_ids.count, next_row_id)
        return next_row_id + work.row_ids.count

    def _row_id(self, table_id: TableId, offset: int) -> int:
        """Return a reserved row id."""
        return self.moved[table_id][2] + offset

    def _totals(self, table_id: TableId) -> TableStatistics:
        found = self.totals.get(table_id) or self.known.statistics.get(table_id)
        return found or TableStatistics(table_id=table_id)

    def closing(self) -> Iterator[Operation]:
        """Yield the operations for statistics, and cache these for the next snapshot."""
        for table_id, totals in self.totals.items():
            before = self.known.statistics.get(table_id)
            yield from self.ledger.replace(TABLE_STATISTICS, before, totals)
            self.known.statistics[table_id] = self._written(totals)
        for table_id, columns in self.widened.items():
            known = self.known.bounds.setdefault(table_id, {})
            for column_id, new in columns.items():
                old = known.get(column_id)
                if new != old:
                    yield from self.ledger.replace(COLUMN_STATISTICS, old, new)
                    known[column_id] = columns[column_id] = self._written(new)

    def _written(self, row: R) -> R:
        """Return a row as it will be read after the commit."""
        return replace(row, catalog_id=self.ledger.catalog_id, begin_snapshot=self.ledger.snapshot)

    def empty(self, table_id: TableId, kinds: Sequence[Kind], cut: int) -> Iterator[Operation]:
        """Yield the operations that end all rows of some kinds in a table, and its inlined rows."""
        places = [(kind.name, str(kind.scope)) for kind in kinds]
        places += [(one.table_name, "table_id") for one in self.known.inlined.get(table_id, [])]
        yield from self.ledger.empty(table_id, places, cut)

    def _end_files(self, kind: Kind, rows: Sequence[Any]) -> Iterator[Operation]:
        own = [row for row in rows if self.ledger.is_own(row)]
        for row in rows:
            if not self.ledger.is_own(row):
                self.ledger.bury(kind, row)
        if not own:
            return
        entity = str(kind.entity)
        begins = [row.begin_snapshot for row in own]
        dialect = self.connection.dialect
        yield self.ledger.ending(
            f"UPDATE {kind.name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
            " AND table_id = :scope AND begin_snapshot BETWEEN :first AND :last"
            f" AND {dialect.any_of(entity, 'files')} AND end_snapshot IS NULL",
            names_rows=True,
            scope=own[0].table_id,
            first=min(begins),
            last=max(begins),
            files=dialect.array([getattr(row, entity) for row in own]),
        )

    def _end_inlined_rows(self, work: TableWork) -> Iterator[Operation]:
        own: dict[str, list[int]] = {}
        for row in work.ended_rows:
            if self.ledger.is_own(row):
                own.setdefault(row.stored_in, []).append(row.row_id)
            else:
                self.ledger.bury(INLINED_ROW, row)
        dialect = self.connection.dialect
        for name, row_ids in own.items():
            yield self.ledger.ending(
                f"UPDATE {name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                f" AND {dialect.any_of('row_id', 'rows')} AND end_snapshot IS NULL",
                rows=dialect.array(row_ids),
            )

    def _add_data_files(self, table_id: TableId, work: TableWork, next_row_id: int) -> Any:
        """Insert data files and their children. Return the next free row id."""
        rows: list[Values] = []
        statistics: list[Values] = []
        partitions: list[Values] = []
        actions: list[Values] = []
        owner = self.ledger.catalog_id
        for order, (local_id, file) in enumerate(work.data_files):
            file_id = self.ledger.file(local_id)
            rows.append(self._data_file((table_id, file_id, order), next_row_id, file))
            next_row_id += file.record_count if file.row_ids and file.row_id_offset is None else 0
            if local_id >= 0:  # a file of another catalog, whose children are stored already
                continue
            key = (owner, file_id, table_id)
            statistics.extend(key + bound_values(bound) for bound in file.bounds)
            partitions.extend(
                (owner, file_id, table_id, index, value)
                for index, value in enumerate(file.partition_values)
            )
            if file.action is not None:
                actions.append((*key, None, file.action))
        if rows:
            yield Insert(DATA_FILE.name, DATA_FILE.columns, rows)
        if statistics:
            yield Insert(FileColumnStatistics.NAME, FileColumnStatistics.columns(), statistics)
        if partitions:
            yield Insert(FilePartitionValue.NAME, FilePartitionValue.columns(), partitions)
        if actions:
            yield Insert(FileAction.NAME, FileAction.columns(), actions)
        return next_row_id

    def _data_file(
        self, place: tuple[TableId, int, int], next_row_id: int, file: NewDataFile
    ) -> Values:
        table_id, file_id, order = place
        row_id_start = next_row_id if file.row_ids else None
        if file.row_id_offset is not None:
            row_id_start = self._row_id(table_id, file.row_id_offset)
        return (
            self.ledger.catalog_id,
            self.ledger.snapshot,
            table_id,
            file_id,
            order,
            file.path,
            file.path_is_relative,
            file.file_format,
            file.record_count,
            file.file_size_bytes,
            file.footer_size,
            row_id_start,
            unless_none(self.ledger.entity)(file.partition_id),
            file.encryption_key,
            file.partial_file_info,
            unless_none(self.ledger.file)(file.mapping_id),
        )

    def _add_deletes(self, table_id: TableId, work: TableWork) -> Iterator[Operation]:
        owner, snapshot = self.ledger.catalog_id, self.ledger.snapshot
        files: list[Values] = [
            (
                owner,
                snapshot,
                table_id,
                self.ledger.file(local_id),
                self.ledger.file(file.data_file_id),
                file.path,
                file.path_is_relative,
                file.format,
                file.delete_count,
                file.file_size_bytes,
                file.footer_size,
                file.encryption_key,
            )
            for local_id, file in work.delete_files
        ]
        positions: list[Values] = [
            (owner, snapshot, table_id, self.ledger.file(data_file_id), position)
            for data_file_id, position in work.inlined_deletes
        ]
        actions: list[Values] = [
            (
                owner,
                self.ledger.file(file.data_file_id),
                table_id,
                self.ledger.file(local_id),
                file.action,
            )
            for local_id, file in work.delete_files
            if file.action is not None
        ]
        if files:
            yield Insert(DELETE_FILE.name, DELETE_FILE.columns, files)
        if actions:
            yield Insert(FileAction.NAME, FileAction.columns(), actions)
        if positions:
            yield Insert(INLINED_DELETE.name, INLINED_DELETE.columns, positions)

    def _add_inlined_rows(self, table_id: TableId, work: TableWork, next_row_id: int) -> Any:
        """Insert inlined rows. Return the next free row id."""
        if not work.inlined_rows:
            return next_row_id
        columns = sorted(
            (column for column in work.columns if column.parent_column is None),
            key=lambda column: column.column_id,
        )
        name = yield from self._inlined_table(table_id, columns)
        rows: list[Values] = []
        for new in work.inlined_rows:
            row_id = new.row_id
            if new.row_id_offset is not None:
                row_id = self._row_id(table_id, new.row_id_offset)
            elif row_id is None:
                row_id, next_row_id = next_row_id, next_row_id + 1
            values = (
                inlined.to_stored(column.column_type, new.values.get(column.column_id))
                for column in columns
            )
            rows.append((self.ledger.catalog_id, table_id, row_id, self.ledger.snapshot, *values))
        yield Insert(name, inlined.stored_columns(columns), rows)
        return next_row_id

    def _inlined_table(self, table_id: TableId, columns: Sequence[Column]) -> Any:
        """Return the metastore table for these columns; create it if this catalog has none."""
        shape = inlined.shape_of(columns)
        name = inlined.table_name(table_id, shape)
        known = self.known.inlined.setdefault(table_id, [])
        if all(one.table_name != name for one in known):
            yield from self.connection.lock(Lock.INLINED, table_id)
            yield inlined.create_statement(self.connection, name, columns)
            row = InlinedTable(table_id=table_id, table_name=name, schema_version=shape)
            yield self.ledger.insert(INLINED_TABLE.name, INLINED_TABLE.columns, [row])
            known.append(row)
        return name

    def _widen(self, table_id: TableId, work: TableWork) -> None:
        """Widen the bounds of columns where those of new files exceed them."""
        known = self.known.bounds.setdefault(table_id, {})
        if work.truncates:
            known.update(dict.fromkeys(known))  # bounds end with the rows that they describe
        held = known | self.widened.get(table_id, {})
        before = {column_id: row for column_id, row in held.items() if row is not None}
        self.widened.setdefault(table_id, {}).update(work.widened(table_id, before))
