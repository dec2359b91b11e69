"""Commit plans: all changes of a transaction, with local ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forklake.model.changes import Change
from forklake.model.children import Child
from forklake.model.delta_tables import FaceCommit
from forklake.model.entities import (
    Column,
    ColumnStatistics,
    DataFile,
    DeleteFile,
    InlinedDelete,
    InlinedRow,
    Option,
    Row,
)
from forklake.model.files import ColumnBounds, NewDataFile, NewDeleteFile, NewInlinedRow
from forklake.model.ids import (
    CatalogId,
    ColumnId,
    DataFileId,
    DeleteFileId,
    SnapshotId,
    TableId,
)
from forklake.model.merges import MergeNote, RowIds
from forklake.model.reads import Reads
from forklake.model.snapshots import CommitInfo
from forklake.model.statistics import widened


@dataclass(slots=True)
class TableWork:
    """Changes of a commit to the data of one table."""

    columns: tuple[Column, ...]
    truncates: bool = False
    data_files: list[tuple[DataFileId, NewDataFile]] = field(default_factory=list)
    delete_files: list[tuple[DeleteFileId, NewDeleteFile]] = field(default_factory=list)
    ended_files: list[DataFile] = field(default_factory=list)
    ended_delete_files: list[DeleteFile] = field(default_factory=list)
    inlined_rows: list[NewInlinedRow] = field(default_factory=list)
    ended_rows: list[InlinedRow] = field(default_factory=list)
    inlined_deletes: list[tuple[DataFileId, int]] = field(default_factory=list)
    ended_inlined_deletes: list[InlinedDelete] = field(default_factory=list)
    row_ids: RowIds | None = None  # ids to reserve for rows that are merged from another catalog

    @property
    def removed_rows(self) -> int:
        """Number of rows that end; rows of a truncated table are not counted."""
        ended = sum(file.record_count for file in self.ended_files) + len(self.ended_rows)
        deleted = sum(file.delete_count for _, file in self.delete_files)
        counted_before = sum(file.delete_count for file in self.ended_delete_files)
        deleted += len(self.inlined_deletes) - len(self.ended_inlined_deletes)
        return ended + deleted - counted_before

    @property
    def removed_bytes(self) -> int:
        """Bytes of the data files that this commit ends."""
        return sum(file.file_size_bytes for file in self.ended_files)

    @property
    def added_bytes(self) -> int:
        """Bytes of the new files."""
        data = sum(file.file_size_bytes for _, file in self.data_files)
        return data + sum(file.file_size_bytes for _, file in self.delete_files)

    @property
    def touched_files(self) -> set[DataFileId]:
        """Committed data files whose rows this commit ends."""
        touched = {file.data_file_id for file in self.ended_files}
        touched.update(file.data_file_id for _, file in self.delete_files)
        touched.update(data_file_id for data_file_id, _ in self.inlined_deletes)
        touched.update(row.data_file_id for row in self.ended_inlined_deletes)
        return {number for number in touched if number >= 0}

    @property
    def only_adds_files(self) -> bool:
        """Whether the commit only adds data files."""
        return bool(self.data_files) and not (
            self.truncates
            or self.delete_files
            or self.ended_files
            or self.ended_delete_files
            or self.inlined_rows
            or self.ended_rows
            or self.inlined_deletes
            or self.ended_inlined_deletes
            or self.row_ids
        )

    def widened(
        self, table_id: TableId, before: Mapping[ColumnId, ColumnStatistics]
    ) -> dict[ColumnId, ColumnStatistics]:
        """Return column bounds widened by the new files, for the columns that these cover."""
        found: dict[ColumnId, list[ColumnBounds]] = {}
        for _, file in self.data_files:
            for bound in file.bounds:
                found.setdefault(bound.column_id, []).append(bound)
        types = self.column_types
        return {
            column_id: widened(
                before.get(column_id), (table_id, column_id, types.get(column_id, "")), bounds
            )
            for column_id, bounds in found.items()
        }

    @property
    def column_types(self) -> dict[ColumnId, str]:
        """Stored types of all columns and nested fields."""
        return {column.column_id: column.column_type for column in self.columns}


@dataclass(frozen=True, slots=True)
class KnownBounds:
    """Column bounds of a table at a snapshot, remembered from the commit that made it.

    `is_alone`: no other transaction had committed to the catalog between the start of that commit's
    transaction and the commit.
    """

    at: SnapshotId
    columns: dict[ColumnId, ColumnStatistics]
    is_alone: bool


@dataclass(slots=True)
class CommitPlan:
    """All changes of one transaction, and the snapshot that it read.

    Args:
        reads: reads of the transaction, which commits since its start must not have changed.
        schema_names: returns the names of schemas by id, for the check for conflicts.
        schema_of: returns the id of the schema of a table, for the same check.
        name_of: returns the name of an object by id, for messages.
        key: idempotency key, which makes a retry apply only once; given by the user or generated.
        continues: the next plan of the series belongs to the same snapshot.
    """

    catalog_id: CatalogId
    start: SnapshotId
    inherits: bool
    changes: set[Change] = field(default_factory=set)
    reads: Reads = field(default_factory=Reads)
    schema_names: Callable[[], dict[int, str]] = dict
    schema_of: Callable[[int], int | None] = lambda _: None
    new_rows: list[Row] = field(default_factory=list)
    ended_rows: list[Row] = field(default_factory=list)
    dropped_tables: list[TableId] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    tables: dict[TableId, TableWork] = field(default_factory=dict)
    faces: dict[TableId, FaceCommit] = field(default_factory=dict)
    known_bounds: Mapping[TableId, KnownBounds] = field(default_factory=dict)
    merge: MergeNote | None = None
    new_entities: int = 0
    new_files: int = 0
    info: CommitInfo = field(default_factory=CommitInfo)
    name_of: Callable[[int], str | None] = lambda _: None
    key: str = ""
    continues: bool = False

    @property
    def changes_definitions(self) -> bool:
        """Whether the commit makes a new version of the definitions of the catalog."""
        return bool(self.new_rows or self.ended_rows or self.dropped_tables)

    @property
    def presumed(self) -> frozenset[int]:
        """Tables and schemas that must still exist, because options are set on them."""
        return frozenset(row.scope_id for row in self.new_rows if isinstance(row, Option))

    @property
    def ends_rows(self) -> bool:
        """Whether the commit ends any row."""
        data = any(
            work.truncates
            or work.ended_files
            or work.ended_delete_files
            or work.ended_rows
            or work.ended_inlined_deletes
            for work in self.tables.values()
        )
        return bool(data or self.ended_rows or self.dropped_tables)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to commit."""
        has_rows = self.changes_definitions or self.tables or self.children
        return not (has_rows or self.faces or self.merge)


@dataclass(frozen=True, slots=True)
class Committed:
    """Outcome of a commit."""

    snapshot_id: SnapshotId
    schema_version: int
    entity_ids: tuple[int, ...] = ()
    file_ids: tuple[int, ...] = ()
    was_applied_before: bool = False
    known_bounds: Mapping[TableId, KnownBounds] = field(default_factory=dict)
