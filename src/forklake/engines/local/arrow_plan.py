"""Plan of a table read with Arrow: files and rows for tasks without access to the metastore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.inlined_rows import inlined_columns
from forklake.engines.layouts import Layout, folder_values, mapped
from forklake.engines.local.arrow_reader import VIRTUAL, Positions, Snapshots, StoredFile
from forklake.engines.local.feed import Part
from forklake.files import keys
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, MappingId, SnapshotId
from forklake.model.predicates import Predicate
from forklake.model.scans import ScanFile, TableChanges, is_partial

# Bytes that a task reads; opening a file is counted as reading some more.
_TASK, _OPENING = 64 * 2**20, 2**20


class Planner:
    """Conversion of the files and rows of a snapshot to the input of tasks."""

    def __init__(self, seen: SnapshotReads, table: Table, fields: Sequence[Field]) -> None:
        seen.state.require_readable(table)
        self._seen = seen
        self._table = table
        self._fields = tuple(fields)
        self._layouts: dict[MappingId | None, Layout] = {None: Layout(self._fields)}
        self._values: dict[DataFileId, dict[ColumnId, str | None]] = {}
        self._key_encryption_key = keys.load_key_encryption_key()

    def whole_table(self, wanted: Predicate | None = None) -> list[Part]:
        """Return all rows, without files that cannot match the predicate."""
        last = self._seen.snapshot_id
        found = self._seen.scan_files(self._table, wanted)
        self._load_folder_values(found)
        files = [
            self._to_stored_file(file, Snapshots(0, last) if is_partial(file, last) else None)
            for file in found
        ]
        rows = self._seen.inlined_rows(self._table, self._fields)
        return self._insertions(files, rows)

    def inserted_rows(self, changes: Changes) -> list[Part]:
        """Return the inserted rows, including new versions of updated ones."""
        files = [
            self._to_stored_file(one, changes.rows_of(one))
            for one in changes.added(changes.inserting)
        ]
        return self._insertions(files, changes.inserted_rows(changes.inserting))

    def changed_rows(self, changes: Changes) -> list[Part]:
        """Return all changes: snapshots that only insert are read together, others one by one."""
        plain = changes.inserting - changes.deleting
        files = [
            self._to_stored_file(one, replace(changes.rows_of(one), without=changes.deleting))
            for one in changes.added(plain)
        ]
        parts = self._insertions(files, changes.inserted_rows(plain))
        return parts + [self._snapshot(changes, at) for at in sorted(changes.deleting)]

    def _snapshot(self, changes: Changes, at: SnapshotId) -> Part:
        """Return the rows that one snapshot inserted and deleted."""
        begun = [one for one in changes.all.added if one.file.begin_snapshot == at]
        moved = begun if at in changes.all.mixed else []
        return Part(
            self._fields,
            added=tuple(
                self._to_stored_file(one, Snapshots(at, at))
                for one in changes.added(frozenset({at}))
            ),
            inserted=self._inlined_batch(changes.inserted_rows(frozenset({at}))),
            deleted=tuple(
                self._to_stored_file(one.before, only=one.after)
                for one in changes.all.deleted
                if one.snapshot_id == at
            ),
            removed=self._inlined_batch(
                [row for end, row in changes.all.deleted_rows if end == at]
            ),
            moved=tuple(self._to_stored_file(one, Snapshots(0, at - 1)) for one in moved),
            deleted_at=at,
        )

    def _insertions(self, files: Sequence[StoredFile], rows: Sequence[InlinedRow]) -> list[Part]:
        parts = [Part(self._fields, added=bundle) for bundle in _bundles(files)]
        inlined = self._inlined_batch(rows)
        return parts if inlined is None else [*parts, Part(self._fields, inserted=inlined)]

    # Files and rows

    def _to_stored_file(
        self, file: ScanFile, snapshots: Snapshots | None = None, *, only: ScanFile | None = None
    ) -> StoredFile:
        """Return a file without its deleted rows; with `only`, just the rows deleted in there."""
        layout = self._layout(file.file.mapping_id)
        self._load_folder_values([file])
        return StoredFile(
            path=file.path,
            size=file.file.file_size_bytes,
            layout=layout,
            values=self._values[file.file.data_file_id],
            key=self._key(file.file.encryption_key),
            row_id_start=file.file.row_id_start,
            began=file.file.begin_snapshot,
            deleted=self._positions(file),
            only=None if only is None else self._positions(only),
            snapshots=snapshots,
        )

    def _load_folder_values(self, files: Sequence[ScanFile]) -> None:
        """Load, in one query per layout, the values of columns that are not stored in the files."""
        by_layout: dict[MappingId | None, list[ScanFile]] = {}
        for file in files:
            if file.file.data_file_id not in self._values:
                by_layout.setdefault(file.file.mapping_id, []).append(file)
        for mapping_id, those in by_layout.items():
            found = folder_values(self._layout(mapping_id), self._seen, self._table, those)
            for file, values in zip(those, found, strict=True):
                self._values[file.file.data_file_id] = values

    def _inlined_batch(self, rows: Sequence[InlinedRow]) -> pa.RecordBatch | None:
        """Return inlined rows with their virtual columns."""
        if not rows:
            return None
        columns = inlined_columns(self._fields, rows)
        columns.append(pa.array([row.row_id for row in rows], pa.int64()))
        columns.append(pa.array([row.begin_snapshot for row in rows], pa.int64()))
        names = [*(field.name for field in self._fields), *VIRTUAL]
        return pa.RecordBatch.from_arrays(columns, names)

    def _layout(self, mapping_id: MappingId | None) -> Layout:
        if mapping_id not in self._layouts:
            assert mapping_id is not None
            mapping, names = self._seen.name_mapping(mapping_id)
            self._layouts[mapping_id] = mapped(self._layouts[None], mapping, names)
        return self._layouts[mapping_id]

    def _positions(self, file: ScanFile) -> Positions:
        key = file.delete_file.encryption_key if file.delete_file else None
        return Positions(file.delete_path, self._key(key), file.deleted_positions)

    def _key(self, stored: str | None) -> keys.Key | None:
        return None if stored is None else keys.unwrap(stored, self._key_encryption_key)


class Changes:
    """Changes of a table after one snapshot, up to and including another one."""

    def __init__(self, changes: TableChanges, after: int, last: int) -> None:
        self.all = changes
        self._first = after + 1
        self._last = last
        begun = {one.file.begin_snapshot for one in changes.added}
        begun |= {row.begin_snapshot for row in changes.inserted_rows}
        ended = {one.snapshot_id for one in changes.deleted}
        ended |= {end for end, _ in changes.deleted_rows}
        self.deleting = self._within(ended)
        self.inserting = self._within(begun)
        # Rows of some snapshots may exist only in files that compaction wrote later, or before.
        self._partial = [one for one in changes.added if is_partial(one, SnapshotId(after))]
        if self._partial and last not in self.inserting:
            self.inserting |= {SnapshotId(last)}

    def _within(self, snapshots: Iterable[SnapshotId]) -> frozenset[SnapshotId]:
        found = (one for one in snapshots if self._first <= one <= self._last)
        return frozenset(found) - self.all.rewrites

    @property
    def touched(self) -> list[SnapshotId]:
        """Snapshots that changed rows."""
        return sorted(self.inserting | self.deleting)

    def added(self, snapshots: frozenset[SnapshotId]) -> list[ScanFile]:
        """Return the files that may contain rows which these snapshots added."""
        if not snapshots:
            return []
        whole = [one for one in self.all.added if one.file.begin_snapshot in snapshots]
        return list({one.path: one for one in (*whole, *self._partial)}.values())

    def rows_of(self, file: ScanFile) -> Snapshots:
        """Return the snapshots whose rows are new in a file, without rows moved there."""
        return Snapshots(max(self._first, file.file.begin_snapshot), self._last)

    def inserted_rows(self, snapshots: frozenset[SnapshotId]) -> list[InlinedRow]:
        """Return the inlined rows that these snapshots added."""
        return [row for row in self.all.inserted_rows if row.begin_snapshot in snapshots]


def _bundles(files: Iterable[StoredFile]) -> Iterator[tuple[StoredFile, ...]]:
    """Yield the files for one task each: large ones alone, small ones together."""
    bundle: list[StoredFile] = []
    size = 0
    for file in files:
        cost = file.size + _OPENING
        if bundle and size + cost > _TASK:
            yield tuple(bundle)
            bundle, size = [], 0
        bundle.append(file)
        size += cost
    if bundle:
        yield tuple(bundle)
