"""Change feed of a table: the changes of its rows from one snapshot to another.

A catalog sees the history of its ancestors up to the fork, including the ends that it set itself on
inherited rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from forklake.catalog.paths import DataPaths
from forklake.catalog.snapshot_reads import SnapshotReads, scan_file, with_deletes
from forklake.errors import InvalidInput
from forklake.model.changes import ChangeKind, parse_changes
from forklake.model.entities import DataFile, DeleteFile, InlinedDelete, InlinedTable, Row, Table
from forklake.model.ids import FOREVER, DataFileId, SnapshotId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, INLINED_DELETE, INLINED_TABLE, Kind
from forklake.model.scans import DeletedRows, ScanFile, TableChanges
from forklake.store.database import Connection, Database
from forklake.store.expired import require_whole_history
from forklake.store.inlined import read_changed_rows
from forklake.store.operations import Statement
from forklake.store.rows import decoded
from forklake.store.snapshots import changes_statement
from forklake.store.visibility import CHANGED, table_history

# A row, and the snapshot that ended it.
Ended = tuple[Any, SnapshotId | None]
_REWRITES = frozenset({ChangeKind.MERGED, ChangeKind.REWRITTEN, ChangeKind.FLUSHED})
_CHANGES = frozenset(
    {
        ChangeKind.INSERTED,
        ChangeKind.DELETED,
        ChangeKind.INLINED_INSERT,
        ChangeKind.INLINED_DELETE,
    }
)
# Merged files may contain rows of later snapshots than the one in which the file begins.
_CHANGED_OR_PARTIAL = f"{CHANGED} OR (h.partial_file_info IS NOT NULL AND h.seen_until IS NULL)"
_CHANGED_KINDS = (DATA_FILE, DELETE_FILE, INLINED_DELETE)


def table_changes(
    database: Database, paths: DataPaths, seen: SnapshotReads, table: Table, start: SnapshotId
) -> TableChanges:
    """Return the changes of a table from snapshot `start` to that of `seen`, both included."""
    if not 0 <= start <= seen.snapshot_id:
        raise InvalidInput(
            f"Changes cannot be read from snapshot {start} to {seen.snapshot_id}.",
            remedy="Choose a first snapshot that is not after the last one.",
        )
    with database.reading() as connection:
        found = known_changes(connection, paths, seen, table, start)
        # Check afterwards: rows that expired during the read may be missing from the result.
        require_whole_history(connection, seen.state.catalog_id, start, seen.snapshot_id)
    return found


def known_changes(
    connection: Connection, paths: DataPaths, seen: SnapshotReads, table: Table, start: SnapshotId
) -> TableChanges:
    """Do the same without a check for expired snapshots, which is left to the caller."""
    return _Reading(connection, paths, seen, table, start).changes()


class _Reading:
    """Reader of the changes over one connection."""

    def __init__(
        self,
        connection: Connection,
        paths: DataPaths,
        seen: SnapshotReads,
        table: Table,
        start: SnapshotId,
    ) -> None:
        self._connection = connection
        self._paths = paths
        self._fields = seen.state.fields(table)
        self._table_id = table.table_id
        self._start = start
        self._parameters = {
            "catalog": seen.state.catalog_id,
            "snapshot": seen.snapshot_id,
            "scope": table.table_id,
            "start": start,
        }

    def changes(self) -> TableChanges:
        log = changes_statement(self._connection, self._parameters)
        changed = [
            self._statement(kind, _CHANGED_OR_PARTIAL if kind is DATA_FILE else CHANGED)
            for kind in _CHANGED_KINDS
        ]
        inlined = self._statement(INLINED_TABLE, "1 = 1")
        *answers, tables, logged = self._connection.run([*changed, inlined, log])
        files, deletes, positions = map(_ended, _CHANGED_KINDS, answers)
        rows = read_changed_rows(
            self._connection,
            self._parameters,
            _distinct(row for row, _ in _ended(INLINED_TABLE, tables)),
            self._fields,
        )
        ends = [(ended, row) for row, ended in rows if ended is not None]
        kinds = {at: self._kinds(text) for at, text in logged}
        rewrites = {at for at, found in kinds.items() if found & _REWRITES}
        mixed = {at for at in rewrites if kinds[at] & _CHANGES}
        return TableChanges(
            added=tuple(self._added(files, [row for row, _ in (*deletes, *positions)])),
            deleted=tuple(self._deleted(files, [*deletes, *positions])),
            inserted_rows=tuple(row for row, _ in rows if row.begin_snapshot >= self._start),
            deleted_rows=tuple(sorted(ends, key=lambda one: (one[0], one[1].row_id))),
            rewrites=frozenset(rewrites - mixed),
            mixed=frozenset(mixed),
        )

    def _statement(self, kind: Kind, where: str, **parameters: Any) -> Statement:
        text = table_history(kind, self._connection.dialect, kind.columns, where=where)
        return Statement(text, {**self._parameters, **parameters})

    def _kinds(self, text: str | None) -> set[ChangeKind]:
        """Return the kinds of changes that a snapshot made to the table."""
        changes = parse_changes(text)
        return {change.kind for change in changes if change.object_id == self._table_id}

    def _added(self, files: Sequence[Ended], deletes: Sequence[Any]) -> Iterable[ScanFile]:
        """Yield the files that began, each with the rows that the same snapshot deleted."""
        found = [
            file
            for file, ended in files
            if file.begin_snapshot >= self._start or file.partial_file_info is not None
            if file.begin_snapshot != ended
        ]
        at_once: dict[tuple[DataFileId, SnapshotId], list[Any]] = {}
        for row in deletes:
            at_once.setdefault((row.data_file_id, row.begin_snapshot), []).append(row)
        for file in sorted(found, key=lambda file: (file.begin_snapshot, file.data_file_id)):
            yield self._scanned(file, at_once.get((file.data_file_id, file.begin_snapshot), ()))

    def _deleted(self, files: Sequence[Ended], deletes: Sequence[Ended]) -> Iterable[DeletedRows]:
        """Yield the deletions from data files, with the deletes of the file before and after."""
        moments = {(ended, file.data_file_id) for file, ended in files if ended is not None}
        moments |= {
            (row.begin_snapshot, row.data_file_id)
            for row, _ in deletes
            if row.begin_snapshot >= self._start
        }
        touched = sorted({number for _, number in moments})
        known, in_force = self._histories(touched)
        for at, number in sorted(moments):
            file, ended = known[number]
            if file.begin_snapshot == at:
                continue  # deleted by the snapshot that added them, so they were never visible
            before = [row for row, until in in_force.get(number, ()) if _holds(row, until, at - 1)]
            after = [row for row, until in in_force.get(number, ()) if _holds(row, until, at)]
            yield DeletedRows(
                at, self._scanned(file, before), None if ended == at else self._scanned(file, after)
            )

    def _histories(
        self, touched: Sequence[DataFileId]
    ) -> tuple[dict[DataFileId, Ended], dict[DataFileId, list[Ended]]]:
        """Return data files and all deletes that ever applied to them, with their end snapshots."""
        if not touched:
            return {}, {}
        dialect = self._connection.dialect
        among, numbers = dialect.any_of("h.data_file_id", "files"), dialect.array(touched)
        statements = [self._statement(kind, among, files=numbers) for kind in _CHANGED_KINDS]
        answers = self._connection.run(statements)
        files, *deletes = map(_ended, _CHANGED_KINDS, answers)
        in_force: dict[DataFileId, list[Ended]] = {}
        for row, ended in (one for found in deletes for one in found):
            in_force.setdefault(row.data_file_id, []).append((row, ended))
        return {file.data_file_id: (file, ended) for file, ended in files}, in_force

    def _scanned(self, file: DataFile, deletes: Sequence[Row]) -> ScanFile:
        files = [row for row in deletes if isinstance(row, DeleteFile)]
        positions = [row for row in deletes if isinstance(row, InlinedDelete)]
        (found,) = with_deletes([file], files, positions)
        return scan_file(self._paths, found)


def _ended(kind: Kind, rows: Sequence[Any]) -> list[Ended]:
    found = decoded(kind, [row[:-1] for row in rows])
    return [(one, row[-1]) for one, row in zip(found, rows, strict=True)]


def _holds(row: Row, until: SnapshotId | None, at: int) -> bool:
    return row.begin_snapshot <= at < (FOREVER if until is None else until)


def _distinct(tables: Iterable[InlinedTable]) -> list[InlinedTable]:
    return list({table.table_name: table for table in tables}.values())
