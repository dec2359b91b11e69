"""The rows that a commit writes, given everything that was read under the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from forklake.model.changes import Change, format_changes
from forklake.model.children import Child, FileColumnStatistics, FilePartitionValue
from forklake.model.entities import ColumnStatistics, InlinedTable, Row, TableStatistics
from forklake.model.files import ColumnBounds, NewDataFile
from forklake.model.ids import (
    ENTITY_ID_COLUMNS,
    FILE_ID_COLUMNS,
    ColumnId,
    SnapshotId,
    TableId,
)
from forklake.model.kinds import (
    ALL_CONTENT,
    ALL_FILES,
    BENEATH_TABLE,
    COLUMN_STATISTICS,
    CONTENT,
    DATA_FILE,
    DELETE_FILE,
    INLINED_DELETE,
    INLINED_ROW,
    INLINED_TABLE,
    KIND_OF,
    OPTION,
    TABLE_STATISTICS,
    Kind,
)
from forklake.model.plan import CommitPlan, TableWork
from forklake.model.snapshots import Head
from forklake.model.statistics import TableDelta, widened
from forklake.store import inlined
from forklake.store.catalogs import snapshot_insert
from forklake.store.database import Connection, Lock
from forklake.store.operations import Allocation, Insert, Operation, Statement, Values
from forklake.store.rows import insert_of

_TOMBSTONE_COLUMNS = (
    "catalog_id",
    "kind",
    "table_id",
    "entity_id",
    "entity_key",
    "begin_snapshot",
    "end_snapshot",
)


@dataclass(slots=True, kw_only=True)
class Writing:
    """One commit being written."""

    connection: Connection
    plan: CommitPlan
    head: Head
    allocation: Allocation
    moment: datetime
    statistics: dict[TableId, TableStatistics]
    bounds: dict[TableId, list[ColumnStatistics]]
    inlined_tables: dict[TableId, list[InlinedTable]]
    _tombstones: list[Values] = field(default_factory=list)
    _cuts: list[Values] = field(default_factory=list)

    @property
    def snapshot(self) -> SnapshotId:
        """The snapshot that this commit is."""
        return self.allocation.snapshot_id

    @property
    def schema_version(self) -> int:
        """The version of the definitions after it."""
        return self.head.schema_version + int(self.plan.changes_definitions)

    def operations(self) -> list[Operation]:
        """Everything to send, the head last."""
        done: list[Operation] = [snapshot_insert(self.allocation, self.schema_version, self.moment)]
        done.append(self._changes())
        if self.plan.changes_definitions:
            done += self._definitions()
        done += self._children()
        for local_id, work in self.plan.tables.items():
            done += self._table(self._entity(local_id), local_id, work)
        if self._tombstones:
            done.append(Insert("ducklake_tombstone", _TOMBSTONE_COLUMNS, self._tombstones))
        if self._cuts:
            done.append(
                Insert("ducklake_tombstone", _TOMBSTONE_COLUMNS, self._cuts, skips_existing=True)
            )
        done.append(
            Statement(
                "UPDATE ducklake_catalog_head SET snapshot_id = :snapshot,"
                " schema_version = :version WHERE catalog_id = :catalog",
                {
                    "snapshot": self.snapshot,
                    "version": self.schema_version,
                    "catalog": self.plan.catalog_id,
                },
            )
        )
        return done

    def _entity(self, number: int) -> Any:
        return number if number >= 0 else self.allocation.entity_ids[-number - 1]

    def _file(self, number: int) -> Any:
        return number if number >= 0 else self.allocation.file_ids[-number - 1]

    def _final(self) -> dict[str, Callable[[Any], Any]]:
        """How values that are local to the transaction become stored ones, by column."""
        catalog_id, snapshot = self.plan.catalog_id, self.snapshot
        entity, file = _unless_none(self._entity), _unless_none(self._file)
        final: dict[str, Callable[[Any], Any]] = dict.fromkeys(ENTITY_ID_COLUMNS, entity)
        final |= dict.fromkeys(FILE_ID_COLUMNS, file)
        final |= {"catalog_id": lambda _: catalog_id, "begin_snapshot": lambda _: snapshot}
        return final

    def _changes(self) -> Insert:
        info = self.plan.info
        changes = format_changes(self._final_change(change) for change in self.plan.changes)
        columns = (
            "catalog_id snapshot_id changes_made author commit_message commit_extra_info"
            " idempotency_key"
        )
        row = (
            self.plan.catalog_id,
            self.snapshot,
            changes,
            info.author,
            info.message,
            info.extra_info,
            self.plan.key,
        )
        return Insert("ducklake_snapshot_changes", tuple(columns.split()), [row])

    def _final_change(self, change: Change) -> Change:
        if change.object_id is None or change.object_id >= 0:
            return change
        return replace(change, object_id=self._entity(change.object_id))

    def _definitions(self) -> Iterator[Operation]:
        columns = ("catalog_id", "begin_snapshot", "schema_version")
        row = (self.plan.catalog_id, self.snapshot, self.schema_version)
        yield Insert("ducklake_schema_versions", columns, [row])
        yield from self._end(self.plan.ended_rows)
        for table_id in self.plan.dropped_tables:
            yield from self._empty(table_id, (*BENEATH_TABLE,), ALL_CONTENT)
        yield from self._insert(self.plan.new_rows)

    def _children(self) -> Iterator[Operation]:
        by_class: dict[type[Child], list[Child]] = {}
        for child in self.plan.children:
            by_class.setdefault(type(child), []).append(child)
        for child_class, children in by_class.items():
            yield insert_of(child_class.NAME, child_class.columns(), children, self._final())

    def _insert(self, rows: Iterable[Row]) -> Iterator[Operation]:
        by_kind: dict[Kind, list[Row]] = {}
        for row in rows:
            by_kind.setdefault(KIND_OF[type(row)], []).append(row)
        for kind, members in by_kind.items():
            yield insert_of(kind.name, kind.columns, members, self._final())

    def _end(self, rows: Iterable[Row]) -> Iterator[Operation]:
        """End rows: our own where they stand, inherited ones by tombstone."""
        for row in rows:
            kind = KIND_OF[type(row)]
            if row.catalog_id != self.plan.catalog_id:
                self._bury(kind, row)
                if kind is not OPTION:
                    continue
            # An option may have been set by somebody else meanwhile: the last one holds.
            matches = " AND ".join(f"{column} = :{column}" for column in kind.identity)
            yield Statement(
                f"UPDATE {kind.name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                f" AND {matches} AND end_snapshot IS NULL",
                {column: getattr(row, column) for column in kind.identity}
                | {"ended": self.snapshot, "catalog": self.plan.catalog_id},
            )

    def _bury(self, kind: Kind, row: Row) -> None:
        scope, entity, text = kind.tombstone_key(row)
        values = (
            self.plan.catalog_id,
            kind.code,
            scope,
            entity,
            text,
            row.begin_snapshot,
            self.snapshot,
        )
        (self._cuts if kind in (OPTION, INLINED_DELETE) else self._tombstones).append(values)

    def _empty(self, table_id: TableId, kinds: Sequence[Kind], cut: int) -> Iterator[Operation]:
        """End everything of some kinds beneath a table, also what was added meanwhile."""
        names = [(kind.name, kind.scope) for kind in kinds]
        names += [(table.table_name, "table_id") for table in self.inlined_tables.get(table_id, [])]
        for name, scope in names:
            yield Statement(
                f"UPDATE {name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                f" AND {scope} = :scope AND end_snapshot IS NULL",
                {"ended": self.snapshot, "catalog": self.plan.catalog_id, "scope": table_id},
            )
        if self.plan.inherits:
            self._cuts.append((self.plan.catalog_id, cut, table_id, 0, "", 0, self.snapshot))

    def _table(self, table_id: TableId, local_id: TableId, work: TableWork) -> Iterator[Operation]:
        before = self.statistics.get(table_id)
        start = before or TableStatistics(table_id=table_id)
        if work.truncates and local_id >= 0:
            yield from self._empty(table_id, CONTENT, ALL_FILES)
        yield from self._end_files(DATA_FILE, work.ended_files)
        yield from self._end_files(DELETE_FILE, work.ended_delete_files)
        yield from self._end_inlined(work)
        next_row_id = yield from self._add_files(table_id, work, start.next_row_id)
        next_row_id = yield from self._add_inlined(table_id, work, next_row_id)
        delta = TableDelta(
            rows=sum(file.record_count for _, file in work.data_files)
            + len(work.inlined_rows)
            - work.removed_rows,
            row_ids=next_row_id - start.next_row_id,
            size=sum(file.file_size_bytes for _, file in work.data_files) - work.removed_bytes,
            resets=work.truncates,
        )
        yield from self._replace(TABLE_STATISTICS, before, delta.applied_to(start))
        yield from self._widen(table_id, work)

    def _end_files(self, kind: Kind, rows: Sequence[Any]) -> Iterator[Operation]:
        own = [row for row in rows if row.catalog_id == self.plan.catalog_id]
        for row in rows:
            if row.catalog_id != self.plan.catalog_id:
                self._bury(kind, row)
        for table_id, members in groupby(own, key=lambda row: row.table_id):
            files = list(members)
            begins = [row.begin_snapshot for row in files]
            dialect = self.connection.dialect
            yield Statement(
                f"UPDATE {kind.name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                " AND table_id = :scope AND begin_snapshot BETWEEN :first AND :last"
                f" AND {dialect.any_of(str(kind.entity), 'files')} AND end_snapshot IS NULL",
                {
                    "ended": self.snapshot,
                    "catalog": self.plan.catalog_id,
                    "scope": table_id,
                    "first": min(begins),
                    "last": max(begins),
                    "files": dialect.array([getattr(row, str(kind.entity)) for row in files]),
                },
            )

    def _end_inlined(self, work: TableWork) -> Iterator[Operation]:
        for row in work.ended_inlined_deletes:
            if row.catalog_id != self.plan.catalog_id:
                self._bury(INLINED_DELETE, row)
        yield from self._end(
            row for row in work.ended_inlined_deletes if row.catalog_id == self.plan.catalog_id
        )
        for inlined_row in work.ended_rows:
            if inlined_row.catalog_id != self.plan.catalog_id:
                self._bury(INLINED_ROW, inlined_row)
                continue
            yield Statement(
                f"UPDATE {inlined_row.stored_in} SET end_snapshot = :ended"
                " WHERE catalog_id = :catalog AND row_id = :row AND end_snapshot IS NULL",
                {
                    "ended": self.snapshot,
                    "catalog": self.plan.catalog_id,
                    "row": inlined_row.row_id,
                },
            )

    def _add_files(self, table_id: TableId, work: TableWork, next_row_id: int) -> Any:
        """Insert data and delete files; returns the row id after the last one given."""
        rows: list[Values] = []
        statistics: list[Values] = []
        partitions: list[Values] = []
        catalog_id = self.plan.catalog_id
        for order, (local_id, file) in enumerate(work.data_files):
            file_id = self._file(local_id)
            row_id_start = next_row_id if file.row_ids else None
            if file.row_ids:
                next_row_id += file.record_count
            rows.append(self._data_file(table_id, file_id, (order, row_id_start), file))
            statistics.extend(
                (
                    catalog_id,
                    file_id,
                    table_id,
                    bound.column_id,
                    bound.column_size_bytes,
                    bound.value_count,
                    bound.null_count,
                    bound.min_value,
                    bound.max_value,
                    bound.contains_nan,
                    bound.extra_stats,
                )
                for bound in file.bounds
            )
            partitions.extend(
                (catalog_id, file_id, table_id, index, value)
                for index, value in enumerate(file.partition_values)
            )
        if rows:
            yield Insert(DATA_FILE.name, DATA_FILE.columns, rows)
        if statistics:
            yield Insert(FileColumnStatistics.NAME, FileColumnStatistics.columns(), statistics)
        if partitions:
            yield Insert(FilePartitionValue.NAME, FilePartitionValue.columns(), partitions)
        if work.delete_files:
            yield self._delete_files(table_id, work)
        if work.inlined_deletes:
            deletes = [
                (catalog_id, self.snapshot, table_id, self._file(data_file_id), position)
                for data_file_id, position in work.inlined_deletes
            ]
            yield Insert(INLINED_DELETE.name, INLINED_DELETE.columns, deletes)
        return next_row_id

    def _data_file(
        self, table_id: TableId, file_id: int, order: tuple[int, int | None], file: NewDataFile
    ) -> Values:
        return (
            self.plan.catalog_id,
            self.snapshot,
            table_id,
            file_id,
            order[0],
            file.path,
            file.path_is_relative,
            file.file_format,
            file.record_count,
            file.file_size_bytes,
            file.footer_size,
            order[1],
            _unless_none(self._entity)(file.partition_id),
            file.encryption_key,
            file.partial_file_info,
            _unless_none(self._file)(file.mapping_id),
        )

    def _delete_files(self, table_id: TableId, work: TableWork) -> Insert:
        rows = [
            (
                self.plan.catalog_id,
                self.snapshot,
                table_id,
                self._file(local_id),
                self._file(file.data_file_id),
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
        return Insert(DELETE_FILE.name, DELETE_FILE.columns, rows)

    def _add_inlined(self, table_id: TableId, work: TableWork, next_row_id: int) -> Any:
        """Insert inlined rows, into a new table if there is none; returns the next row id."""
        if not work.inlined_rows:
            return next_row_id
        top = sorted(
            (column for column in work.columns if column.parent_column is None),
            key=lambda column: column.column_id,
        )
        shape = inlined.shape_of(top)
        name = inlined.table_name(table_id, shape)
        if all(table.table_name != name for table in self.inlined_tables.get(table_id, [])):
            yield from self.connection.lock(Lock.INLINED, table_id)
            yield inlined.create_statement(self.connection, name, top)
            row = InlinedTable(table_id=table_id, table_name=name, schema_version=shape)
            yield insert_of(INLINED_TABLE.name, INLINED_TABLE.columns, [row], self._final())
        rows: list[Values] = []
        for new in work.inlined_rows:
            row_id = new.row_id
            if row_id is None:
                row_id, next_row_id = next_row_id, next_row_id + 1
            values = (
                inlined.to_stored(column.column_type, new.values.get(column.column_id))
                for column in top
            )
            rows.append((self.plan.catalog_id, table_id, row_id, self.snapshot, *values))
        columns = (
            "catalog_id",
            "table_id",
            "row_id",
            "begin_snapshot",
            *(f"c{int(column.column_id)}" for column in top),
        )
        yield Insert(name, columns, rows)
        return next_row_id

    def _replace(self, kind: Kind, before: Row | None, after: Row) -> Iterator[Operation]:
        """End a version of statistics and insert the next."""
        if before is not None:
            if before.catalog_id != self.plan.catalog_id:
                self._bury(kind, before)
            else:
                matches = " AND ".join(f"{column} = :{column}" for column in kind.identity)
                yield Statement(
                    f"UPDATE {kind.name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                    f" AND {matches} AND begin_snapshot = :began",
                    {column: getattr(before, column) for column in kind.identity}
                    | {
                        "ended": self.snapshot,
                        "catalog": self.plan.catalog_id,
                        "began": before.begin_snapshot,
                    },
                )
        yield insert_of(kind.name, kind.columns, [after], self._final())

    def _widen(self, table_id: TableId, work: TableWork) -> Iterator[Operation]:
        """New bounds for the columns of new files, where the old ones do not hold any more."""
        found: dict[ColumnId, list[ColumnBounds]] = {}
        for _, file in work.data_files:
            for bound in file.bounds:
                found.setdefault(bound.column_id, []).append(bound)
        before = {row.column_id: row for row in self.bounds.get(table_id, [])}
        types = work.column_types
        for column_id, files in found.items():
            old = before.get(column_id)
            new = widened(old, (table_id, column_id, types.get(column_id, "")), files)
            if new != old:
                yield from self._replace(COLUMN_STATISTICS, old, new)


def _unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else change(value)
