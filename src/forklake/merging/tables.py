"""Changes of one side to the data of a table, found in metadata where possible.

Files are compared by id and deletes, inlined rows by id and version: those that both sides have are
equal. Data is read only where files hold new versions of rows, or lost rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.row_sets import NewIds, RowSet, SideChanges
from forklake.files.systems import open_input
from forklake.merging.sides import Side
from forklake.model.changes import ChangeKind
from forklake.model.entities import Column, DataFile, InlinedRow, Table
from forklake.model.files import ROW_ID
from forklake.model.ids import DataFileId, SnapshotId, TableId
from forklake.model.kinds import COLUMN, TABLE
from forklake.model.merges import Merge
from forklake.model.scans import ScanFile

RowVersion = tuple[int, SnapshotId]
_PLAIN = frozenset({ChangeKind.INSERTED, ChangeKind.INLINED_INSERT, ChangeKind.ALTERED_TABLE})
_REMOVING = frozenset({ChangeKind.DELETED, ChangeKind.INLINED_DELETE})


@dataclass(frozen=True)
class TableData:
    """A table at one snapshot, or the part of it that a merge brought."""

    view: SnapshotReads
    table: Table
    files: dict[DataFileId, ScanFile]
    rows: dict[RowVersion, InlinedRow]


class TableSide:
    """The data of a table on one side, and its changes since the last merge."""

    def __init__(self, side: Side, table_id: TableId) -> None:
        self.side = side
        self.table_id = table_id
        self.since = side.since(table_id)
        self.arrived_snapshots = side.arrived_snapshots(table_id)

    @cached_property
    def table(self) -> Table:
        """The current table."""
        found = self.side.now.state.get(TABLE, (self.table_id,))
        assert isinstance(found, Table)
        return found

    @cached_property
    def now(self) -> TableData:
        """Its current data."""
        found = _read_table(self.side.now, self.table_id)
        assert found is not None
        return found

    @cached_property
    def before(self) -> list[TableData]:
        """What the other side has: the table at the last merge, and later merges from there."""
        origin = _read_table(self.side.origin(self.table_id), self.table_id)
        found = [] if origin is None else [origin]
        for at in self.arrived_snapshots:
            brought = _read_table(self.side.at_arrival(at), self.table_id)
            if brought is not None:
                earlier = _read_table(self.side.before_arrival(at, self.table_id), self.table_id)
                found = _follow_merge(found, earlier, brought, at)
        return found

    # Files

    @cached_property
    def _files_before(self) -> dict[DataFileId, ScanFile]:
        return {number: file for one in self.before for number, file in one.files.items()}

    @cached_property
    def unshared_files(self) -> list[ScanFile]:
        """Files that the other side does not have."""
        known = self._files_before
        return [file for number, file in self.now.files.items() if number not in known]

    @cached_property
    def reduced_files(self) -> list[ScanFile]:
        """Files that lost rows."""
        known = self._files_before
        return [
            file
            for number, file in self.now.files.items()
            if number in known and _delete_state(file) != _delete_state(known[number])
        ]

    def lost_files(self, seen: TableData) -> list[ScanFile]:
        """Return files of `seen` that ended or lost rows, in their earlier state."""
        reduced = {file.file.data_file_id for file in self.reduced_files}
        return [
            file
            for number, file in seen.files.items()
            if number in reduced or number not in self.now.files
        ]

    # Inlined rows

    @cached_property
    def unshared_rows(self) -> list[InlinedRow]:
        """Inlined rows that the other side does not have, or not in this version."""
        known = {version for one in self.before for version in one.rows}
        return [row for version, row in self.now.rows.items() if version not in known]

    @cached_property
    def lost_rows(self) -> list[int]:
        """Ids of inlined rows whose earlier version ended."""
        return [
            row_id
            for one in self.before
            for row_id, begin in one.rows
            if (row_id, begin) not in self.now.rows
        ]

    # Merges from the other side

    @cached_property
    def arrived_versions(self) -> list[ScanFile]:
        """Files in which merges from the other side brought new versions of rows."""
        return [
            file
            for file in self.now.files.values()
            if file.file.begin_snapshot in self.arrived_snapshots and file.file.row_id_start is None
        ]

    @cached_property
    def arrived_rows(self) -> list[InlinedRow]:
        """Inlined rows that merges from the other side brought."""
        return [
            row for row in self.now.rows.values() if row.begin_snapshot in self.arrived_snapshots
        ]

    # Ids

    @cached_property
    def first_new(self) -> int:
        """The first row id that was assigned after the last merge into the other side."""
        return _next_row_id(self.side.origin(self.table_id), self.table_id)

    @cached_property
    def next_row_id(self) -> int:
        """The row id that the next row gets."""
        return _next_row_id(self.side.now, self.table_id)

    @cached_property
    def arrivals(self) -> list[Merge]:
        """Merges from the other side that brought new rows to the table."""
        return self._with_new_rows(self.side.arrivals)

    @cached_property
    def departures(self) -> list[Merge]:
        """Merges into the other side that took new rows of the table."""
        return self._with_new_rows(self.side.departures)

    def _with_new_rows(self, merges: Iterable[Merge]) -> list[Merge]:
        return [one for one in merges if one.table_id == self.table_id and one.count]

    def is_new(self, row_id: int) -> bool:
        """Return whether this side created a row since its last merge into the other side."""
        came = any(one.becomes <= row_id < one.becomes + one.count for one in self.arrivals)
        return row_id >= self.first_new and not came

    def changes(self, *, with_plain: bool) -> SideChanges:
        """Return where the rows are that this side changed, deleted ones included.

        Rows of files that hold only new rows are included if `with_plain`.
        """
        now, table = self.side.now, self.table
        files = [
            *(self.unshared_files if with_plain else self.mixed_files),
            *self.reduced_files,
            *self.arrived_versions,
        ]
        chosen = list({one.file.data_file_id: one for one in files}.values())
        rows = [*(self.unshared_rows if with_plain else self.changed_rows), *self.arrived_rows]
        return SideChanges(
            now=RowSet(now, table, chosen, rows),
            before=[RowSet(one.view, one.table, self.lost_files(one)) for one in self.before],
            lost_rows=self.lost_rows,
            since=self.since,
            arrived=self.arrived_snapshots,
            ids=NewIds(self.first_new, self.next_row_id, self.arrivals, self.departures),
        )

    # Summary

    @cached_property
    def is_touched(self) -> bool:
        """Whether the data changed at all."""
        return bool(self.unshared_files or self.unshared_rows or self.has_losses)

    @cached_property
    def has_losses(self) -> bool:
        """Whether rows that the other side has were updated or deleted."""
        return bool(self.lost_rows) or any(self.lost_files(one) for one in self.before)

    @cached_property
    def plain_files(self) -> list[ScanFile]:
        """Files that hold only new rows, with implicit row ids."""
        return [file for file in self.unshared_files if self._is_plain(file)]

    @cached_property
    def mixed_files(self) -> list[ScanFile]:
        """The other files that the other side does not have."""
        plain = {file.file.data_file_id for file in self.plain_files}
        return [file for file in self.unshared_files if file.file.data_file_id not in plain]

    @cached_property
    def new_rows(self) -> list[InlinedRow]:
        """Inlined rows that are new."""
        return [row for row in self.unshared_rows if self.is_new(row.row_id)]

    @cached_property
    def changed_rows(self) -> list[InlinedRow]:
        """Inlined rows that are new versions of rows that the other side has."""
        return [row for row in self.unshared_rows if not self.is_new(row.row_id)]

    @cached_property
    def only_adds(self) -> bool:
        """Whether the changes consist of new rows and row moves only."""
        return not (self.has_losses or self.mixed_files or self.changed_rows)

    def _is_plain(self, one: ScanFile) -> bool:
        file = one.file
        if file.row_id_start is None or file.partial_file_info is not None:
            return False
        if not self.is_new(file.row_id_start):
            return False
        kinds = self.side.kinds(file.begin_snapshot, self.table_id)
        if kinds and kinds <= _PLAIN:
            return True
        # An UPDATE also ends rows, and writes their new versions into the same file as new rows:
        # the footer shows it. The footer of an encrypted file cannot be read.
        is_readable = bool(kinds) and kinds <= _PLAIN | _REMOVING and file.encryption_key is None
        return is_readable and not _has_row_ids(one.path)

    @cached_property
    def moved_files(self) -> list[ScanFile]:
        """Files that compaction wrote: their rows may store snapshot ids of this catalog."""
        return [file for file in self.now.files.values() if self._is_moved(file.file)]

    def _is_moved(self, file: DataFile) -> bool:
        if file.row_id_start is not None:
            return file.partial_file_info is not None
        kinds = self.side.kinds(file.begin_snapshot, self.table_id)
        return not kinds or not kinds <= _PLAIN | _REMOVING

    def column_types(self) -> dict[int, str]:
        """Return the type of each column and nested field, by column id."""
        rows: list[Column] = self.side.now.state.beneath(COLUMN, self.table_id)
        return {row.column_id: row.column_type for row in rows}

    @cached_property
    def has_new_types(self) -> bool:
        """Whether the type of a column was promoted."""
        rows: list[Column] = self.side.origin(self.table_id).state.beneath(COLUMN, self.table_id)
        now = self.column_types()
        return any(now.get(row.column_id, row.column_type) != row.column_type for row in rows)


class TableSides:
    """Cache of the data of tables on both sides."""

    def __init__(self) -> None:
        self._found: dict[tuple[Side, TableId], TableSide] = {}

    def of(self, side: Side, table_id: TableId) -> TableSide:
        """Return the data of a table on one side."""
        return self._found.setdefault((side, table_id), TableSide(side, table_id))

    def is_touched(self, side: Side, table_id: TableId) -> bool:
        """Return whether a side has the table and changed its rows."""
        is_there = side.now.state.get(TABLE, (table_id,)) is not None
        may_be = is_there and side.may_have_touched(table_id)
        return may_be and self.of(side, table_id).is_touched


def _read_table(view: SnapshotReads, table_id: TableId) -> TableData | None:
    """Return a table at a snapshot, or None if it does not exist there."""
    table = view.state.get(TABLE, (table_id,))
    if not isinstance(table, Table):
        return None
    files = {one.file.data_file_id: one for one in view.scan_files(table)}
    rows = {(row.row_id, row.begin_snapshot): row for row in view.inlined_rows(table)}
    return TableData(view, table, files, rows)


def _follow_merge(
    earlier_data: list[TableData], earlier: TableData | None, merged: TableData, at: SnapshotId
) -> list[TableData]:
    """Return what the other side has after a merge from it at snapshot `at`.

    The merge brought what began in it, and changed files and rows that were in the state that the
    other side has; other files and rows keep the state that is already in `earlier_data`.

    Args:
        earlier_data: what the other side had before the merge.
        earlier: the table just before the merge.
        merged: the table at the merge.
    """
    files = {n: one for n, one in merged.files.items() if one.file.begin_snapshot == at}
    rows = {version: row for version, row in merged.rows.items() if version[1] == at}
    kept = []
    for data in earlier_data:
        as_known = {
            number
            for number, one in data.files.items()
            if earlier is not None
            and number in earlier.files
            and _delete_state(one) == _delete_state(earlier.files[number])
        }
        files |= {number: one for number, one in merged.files.items() if number in as_known}
        kept.append(
            replace(
                data,
                files={n: one for n, one in data.files.items() if n not in as_known},
                rows={
                    version: row
                    for version, row in data.rows.items()
                    if earlier is None or version not in earlier.rows or version in merged.rows
                },
            )
        )
    return [*kept, replace(merged, files=files, rows=rows)]


def _delete_state(file: ScanFile) -> tuple[int | None, tuple[int, ...]]:
    number = file.delete_file.delete_file_id if file.delete_file is not None else None
    return number, file.deleted_positions


def _next_row_id(view: SnapshotReads, table_id: TableId) -> int:
    table = view.state.get(TABLE, (table_id,))
    return view.statistics(table).next_row_id if isinstance(table, Table) else 0


def _has_row_ids(path: str) -> bool:
    """Return whether a file stores row ids. Only its footer is read."""
    import pyarrow.parquet as pq

    with open_input(path) as opened:
        return ROW_ID in pq.ParquetFile(opened).schema_arrow.names
