"""What a side did to the data of a table, as far as the metastore tells.

Files are compared by their ids and deletes, rows of the metastore by their ids and versions: what
both sides have is the same. Only where files hold new versions of rows, or lost some, need rows be
looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from forklake.catalog.reading import Snapshotted
from forklake.files.systems import open_input
from forklake.merging.sides import Side
from forklake.model.changes import ChangeKind
from forklake.model.entities import Column, DataFile, InlinedRow, Table
from forklake.model.files import ROW_ID
from forklake.model.ids import DataFileId, SnapshotId, TableId
from forklake.model.kinds import COLUMN, TABLE
from forklake.model.merges import Merge
from forklake.model.scans import ScanFile

Version = tuple[int, SnapshotId]
_PLAIN = frozenset({ChangeKind.INSERTED, ChangeKind.INLINED_INSERT, ChangeKind.ALTERED_TABLE})
_REMOVING = frozenset({ChangeKind.DELETED, ChangeKind.INLINED_DELETE})


@dataclass(frozen=True)
class Seen:
    """A table at one snapshot, or what a merge brought to it."""

    view: Snapshotted
    table: Table
    files: dict[DataFileId, ScanFile]
    rows: dict[Version, InlinedRow]


class TableSide:
    """The data of a table on one side, and what was done to it."""

    def __init__(self, side: Side, table_id: TableId) -> None:
        self.side = side
        self.table_id = table_id
        self.since = side.since(table_id)
        self.arrived = side.arrived(table_id)

    @cached_property
    def table(self) -> Table:
        """The table as it is."""
        found = self.side.now.state.get(TABLE, (self.table_id,))
        assert isinstance(found, Table)
        return found

    @cached_property
    def now(self) -> Seen:
        """Its data as it is."""
        found = _seen(self.side.now, self.table_id)
        assert found is not None
        return found

    @cached_property
    def before(self) -> list[Seen]:
        """What the other side has heard of: the table then, and what it brought itself."""
        origin = _seen(self.side.origin(self.table_id), self.table_id)
        found = [] if origin is None else [origin]
        for at in self.arrived:
            brought = _seen(self.side.arrival(at), self.table_id)
            if brought is not None:
                earlier = _seen(self.side.before(at, self.table_id), self.table_id)
                found = _followed(found, earlier, brought, at)
        return found

    # Files

    @cached_property
    def _files_before(self) -> dict[DataFileId, ScanFile]:
        return {number: file for one in self.before for number, file in one.files.items()}

    @cached_property
    def fresh(self) -> list[ScanFile]:
        """Files that the other side does not know."""
        known = self._files_before
        return [file for number, file in self.now.files.items() if number not in known]

    @cached_property
    def reduced(self) -> list[ScanFile]:
        """Files of which rows were deleted."""
        known = self._files_before
        return [
            file
            for number, file in self.now.files.items()
            if number in known and _deletes(file) != _deletes(known[number])
        ]

    def lost(self, seen: Seen) -> list[ScanFile]:
        """Files of before that ended, or of which rows were deleted, as they were."""
        reduced = {file.file.data_file_id for file in self.reduced}
        return [
            file
            for number, file in seen.files.items()
            if number in reduced or number not in self.now.files
        ]

    # Rows of the metastore

    @cached_property
    def fresh_rows(self) -> list[InlinedRow]:
        """Rows of the metastore that the other side does not know, or not in this version."""
        known = {version for one in self.before for version in one.rows}
        return [row for version, row in self.now.rows.items() if version not in known]

    @cached_property
    def lost_rows(self) -> list[int]:
        """The ids of rows of the metastore that ended in the version of before."""
        return [
            row_id
            for one in self.before
            for row_id, begin in one.rows
            if (row_id, begin) not in self.now.rows
        ]

    # What the other side brought

    @cached_property
    def arrived_versions(self) -> list[ScanFile]:
        """Files in which the other side brought new versions of rows."""
        return [
            file
            for file in self.now.files.values()
            if file.file.begin_snapshot in self.arrived and file.file.row_id_start is None
        ]

    @cached_property
    def arrived_rows(self) -> list[InlinedRow]:
        """Rows of the metastore that the other side brought."""
        return [row for row in self.now.rows.values() if row.begin_snapshot in self.arrived]

    # Ids

    @cached_property
    def first_new(self) -> int:
        """The first row id of which the other side has not heard."""
        return _next_row_id(self.side.origin(self.table_id), self.table_id)

    @cached_property
    def next_row_id(self) -> int:
        """The id that the next row gets."""
        return _next_row_id(self.side.now, self.table_id)

    @cached_property
    def brought(self) -> list[Merge]:
        """The merges since then that brought new rows to the table."""
        return self._moves(self.side.arrivals)

    @cached_property
    def taken(self) -> list[Merge]:
        """The merges that took new rows of the table to the other side."""
        return self._moves(self.side.departures)

    def _moves(self, merges: Iterable[Merge]) -> list[Merge]:
        return [one for one in merges if one.table_id == self.table_id and one.count]

    def is_new(self, row_id: int) -> bool:
        """Whether a row was made by this side and never told of."""
        came = any(one.becomes <= row_id < one.becomes + one.count for one in self.brought)
        return row_id >= self.first_new and not came

    # What it comes to

    @cached_property
    def is_touched(self) -> bool:
        """Whether anything happened to the data."""
        return bool(self.fresh or self.fresh_rows or self.has_losses)

    @cached_property
    def has_losses(self) -> bool:
        """Whether rows ended that the other side knows, in this version or for good."""
        return bool(self.lost_rows) or any(self.lost(one) for one in self.before)

    @cached_property
    def plain(self) -> list[ScanFile]:
        """Files that hold nothing but new rows, and no ids of their own."""
        return [file for file in self.fresh if self._is_plain(file)]

    @cached_property
    def mixed(self) -> list[ScanFile]:
        """The other files that the other side does not know."""
        plain = {file.file.data_file_id for file in self.plain}
        return [file for file in self.fresh if file.file.data_file_id not in plain]

    @cached_property
    def new_rows(self) -> list[InlinedRow]:
        """New rows in the metastore."""
        return [row for row in self.fresh_rows if self.is_new(row.row_id)]

    @cached_property
    def versions(self) -> list[InlinedRow]:
        """Rows in the metastore that are new versions of ones that the other side knows."""
        return [row for row in self.fresh_rows if not self.is_new(row.row_id)]

    @cached_property
    def only_adds(self) -> bool:
        """Whether new rows, and where they are, are all there is."""
        return not (self.has_losses or self.mixed or self.versions)

    def _is_plain(self, one: ScanFile) -> bool:
        file = one.file
        if file.row_id_start is None or file.partial_file_info is not None:
            return False
        if not self.is_new(file.row_id_start):
            return False
        kinds = self.side.kinds(file.begin_snapshot, self.table_id)
        if kinds and kinds <= _PLAIN:
            return True
        # A snapshot that also ended rows may have put new versions of rows into the same file.
        may_tell = bool(kinds) and kinds <= _PLAIN | _REMOVING and file.encryption_key is None
        return may_tell and not _has_row_ids(one.path)

    @cached_property
    def moved(self) -> list[ScanFile]:
        """Files whose rows may tell snapshots of their own: they were moved there."""
        return [file for file in self.now.files.values() if self._is_moved(file.file)]

    def _is_moved(self, file: DataFile) -> bool:
        if file.row_id_start is not None:
            return file.partial_file_info is not None
        kinds = self.side.kinds(file.begin_snapshot, self.table_id)
        return not kinds or not kinds <= _PLAIN | _REMOVING

    def types(self) -> dict[int, str]:
        """The type of each node."""
        rows: list[Column] = self.side.now.state.beneath(COLUMN, self.table_id)
        return {row.column_id: row.column_type for row in rows}

    @cached_property
    def has_new_types(self) -> bool:
        """Whether a column was widened."""
        rows: list[Column] = self.side.origin(self.table_id).state.beneath(COLUMN, self.table_id)
        now = self.types()
        return any(now.get(row.column_id, row.column_type) != row.column_type for row in rows)


class TableSides:
    """The data of tables on both sides, each looked at once."""

    def __init__(self) -> None:
        self._found: dict[tuple[Side, TableId], TableSide] = {}

    def of(self, side: Side, table_id: TableId) -> TableSide:
        """A table on one side."""
        return self._found.setdefault((side, table_id), TableSide(side, table_id))

    def are_touched(self, side: Side, table_id: TableId) -> bool:
        """Whether a side changed the rows of a table that it has."""
        is_there = side.now.state.get(TABLE, (table_id,)) is not None
        may_be = is_there and side.may_have_touched(table_id)
        return may_be and self.of(side, table_id).is_touched


def _seen(view: Snapshotted, table_id: TableId) -> Seen | None:
    """A table at a snapshot, if it is there."""
    table = view.state.get(TABLE, (table_id,))
    if not isinstance(table, Table):
        return None
    files = {one.file.data_file_id: one for one in view.scan_files(table)}
    rows = {(row.row_id, row.begin_snapshot): row for row in view.inlined_rows(table)}
    return Seen(view, table, files, rows)


def _followed(known: list[Seen], earlier: Seen | None, brought: Seen, at: SnapshotId) -> list[Seen]:
    """What is known to the other side once it brought something: what began with that, and what it
    did to files and rows that were as it knew them."""
    files = {n: one for n, one in brought.files.items() if one.file.begin_snapshot == at}
    rows = {version: row for version, row in brought.rows.items() if version[1] == at}
    kept = []
    for seen in known:
        as_known = {
            number
            for number, one in seen.files.items()
            if earlier is not None
            and number in earlier.files
            and _deletes(one) == _deletes(earlier.files[number])
        }
        files |= {number: one for number, one in brought.files.items() if number in as_known}
        kept.append(
            replace(
                seen,
                files={n: one for n, one in seen.files.items() if n not in as_known},
                rows={
                    version: row
                    for version, row in seen.rows.items()
                    if earlier is None or version not in earlier.rows or version in brought.rows
                },
            )
        )
    return [*kept, replace(brought, files=files, rows=rows)]


def _deletes(file: ScanFile) -> tuple[int | None, tuple[int, ...]]:
    number = file.delete_file.delete_file_id if file.delete_file is not None else None
    return number, file.deleted_positions


def _next_row_id(view: Snapshotted, table_id: TableId) -> int:
    table = view.state.get(TABLE, (table_id,))
    return view.statistics(table).next_row_id if isinstance(table, Table) else 0


def _has_row_ids(path: str) -> bool:
    """Whether the rows of a file carry ids; only its footer is read."""
    import pyarrow.parquet as pq

    with open_input(path) as opened:
        return ROW_ID in pq.ParquetFile(opened).schema_arrow.names
