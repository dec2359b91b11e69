"""Files of a table at one snapshot, in groups that are read in the same way.

Plain files are one group, however many. Files that need more work are groups of their own: files
with deleted rows, files of other writers (name mapping), files from before a type promotion that
Spark does not read, files with rows of later snapshots.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from forklake.catalog.catalog_view import CatalogView
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.layouts import layout_at, snapshots_read_apart
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, MappingId, SnapshotId
from forklake.model.predicates import Predicate
from forklake.model.scans import ScanFile, is_partial

_FIRST = SnapshotId(0)


class Group(NamedTuple):
    """Key of files that are read in the same way. A tuple, because one is created per file."""

    layout: int = 0  # index into the layouts of the files of the table
    mapping_id: MappingId | None = None
    has_deletes: bool = False
    is_partial: bool = False


_PLAIN = Group()


class GroupedFiles:
    """Files of a table that are visible in a view of the catalog.

    Of the plain files of a snapshot only number and size are read at first: they are listed once
    the query has been pruned. Files that were chosen before, or that a transaction sees (it may add
    or end files), are all listed at once.
    """

    def __init__(
        self,
        view: CatalogView,
        table: Table,
        fields: tuple[Field, ...],
        chosen: Sequence[ScanFile] | None = None,
    ) -> None:
        view.state.require_readable(table)
        self.table = table
        self._fields = fields
        self.committed = view if isinstance(view, SnapshotReads) else view.committed_view()
        self.snapshot_id = self.committed.snapshot_id
        self._read_apart = list(snapshots_read_apart(fields))
        self._layouts = [fields]
        self._layout_at: dict[SnapshotId, int] = {}
        self.sizes: dict[Group, int] = {}  # the bytes of each group that has files
        self._grouped: dict[Group, list[ScanFile]] = {}
        if chosen is None and not isinstance(view, SnapshotReads):
            chosen = view.scan_files(table)
        self._chosen = chosen
        if chosen is not None:
            self.count = len(chosen)
            self._group(chosen)
            return
        outline = self.committed.outline(table, before=max(self._read_apart, default=_FIRST))
        self.count = outline.count
        self._group([file for file in outline.special if self._group_of(file) != _PLAIN])
        if self.count > sum(map(len, self._grouped.values())):
            self.sizes[_PLAIN] = outline.size - sum(self.sizes.values())

    def _group(self, files: Sequence[ScanFile]) -> None:
        for file in files:
            group = self._group_of(file)
            self._grouped.setdefault(group, []).append(file)
            self.sizes[group] = self.sizes.get(group, 0) + file.file.file_size_bytes

    def _group_of(self, file: ScanFile) -> Group:
        return Group(
            layout=self._layout_of(file) if self._read_apart else 0,
            mapping_id=file.file.mapping_id,
            has_deletes=file.has_deletes,
            is_partial=is_partial(file, self.snapshot_id),
        )

    def _layout_of(self, file: ScanFile) -> int:
        began = file.file.begin_snapshot
        if began not in self._layout_at:
            layout = layout_at(self._fields, began)
            if layout not in self._layouts:
                self._layouts.append(layout)
            self._layout_at[began] = self._layouts.index(layout)
        return self._layout_at[began]

    def layout(self, group: Group) -> tuple[Field, ...]:
        """Return the fields of the table as the files of a group store them."""
        return self._layouts[group.layout]

    def with_deletes(self, group: Group) -> Sequence[ScanFile]:
        """Return all files of a group of files that have deleted rows."""
        assert group.has_deletes
        return self._grouped[group]

    def matching(self, group: Group, wanted: Predicate | None) -> list[ScanFile]:
        """Return the files of a group that may have rows for which the predicate is true."""
        if group not in self._grouped:
            special = {file.file.data_file_id for one in self._grouped.values() for file in one}
            files = self.committed.scan_files(self.table, wanted)
            return [file for file in files if file.file.data_file_id not in special]
        files = self._grouped[group]
        if wanted is None or self.table.table_id < 0:
            return files
        ids = [file.file.data_file_id for file in files]
        matching = self.committed.narrowed(self.table, [one for one in ids if one >= 0], wanted)
        return [file for file, one in zip(files, ids, strict=True) if one < 0 or one in matching]

    @cached_property
    def numbers(self) -> dict[DataFileId, int]:
        """Number of each file, in the order in which the files were added."""
        if self._chosen is None:
            files = self.committed.data_files(self.table)
        else:
            files = [file.file for file in self._chosen]
        return {file.data_file_id: number for number, file in enumerate(files)}

    def which_have(self, field: ColumnId, files: Sequence[ScanFile]) -> list[bool]:
        """Return for each file whether it contains a nested field.

        A file has statistics for each column that it contains. A staged file has all columns.
        """
        committed = [one for one in (file.file.data_file_id for file in files) if one >= 0]
        rows = self.committed.file_statistics(self.table, committed)
        having = {row.data_file_id for row in rows if row.column_id == field}
        return [one < 0 or one in having for one in (file.file.data_file_id for file in files)]
