"""Live files of a Delta table, as the catalog stores them.

There may be millions of them, so only the values that are required to end a file are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.files import StagedFile
from forklake.model.entities import DataFile, DeleteFile, Table
from forklake.model.files import NewDataFile, NewDeleteFile
from forklake.model.ids import CatalogId, DataFileId, DeleteFileId, SnapshotId, TableId
from forklake.model.plan import Committed


class StoredDeletes(NamedTuple):
    """The delete file that applies to a data file."""

    number: DeleteFileId
    began: SnapshotId
    rows: int


class StoredFile(NamedTuple):
    """A data file, with its delete file."""

    number: DataFileId
    began: SnapshotId
    rows: int
    size: int
    deletes: StoredDeletes | None = None


class StoredFiles:
    """The stored data files of one table, by full path."""

    def __init__(self, catalog_id: CatalogId) -> None:
        self._catalog_id = catalog_id
        self._files: dict[str, StoredFile] = {}

    def __getitem__(self, path: str) -> StoredFile:
        return self._files[path]

    def pop(self, paths: Iterable[str]) -> dict[str, StoredFile]:
        """Remove files from the collection and return them."""
        return {path: self._files.pop(path) for path in paths}

    def load(self, seen: SnapshotReads, table: Table) -> list[str]:
        """Load the files of a table, and return their paths in order."""
        deletes = {
            row.data_file_id: StoredDeletes(
                row.delete_file_id, row.begin_snapshot, row.delete_count
            )
            for row in seen.delete_files(table)
        }
        for file in seen.data_files(table):
            self._files[seen.full_path(file)] = StoredFile(
                file.data_file_id,
                file.begin_snapshot,
                file.record_count,
                file.file_size_bytes,
                deletes.get(file.data_file_id),
            )
        return list(self._files)

    def add_committed(
        self,
        committed: Committed,
        added: Mapping[str, StagedFile[DataFileId, NewDataFile]],
        marked: Mapping[str, StagedFile[DeleteFileId, NewDeleteFile]],
    ) -> None:
        """Add the files of a commit, and its deletes, with their final ids."""
        at, ids = committed.snapshot_id, committed.file_ids
        for path, (number, file) in added.items():
            final = DataFileId(ids[-number - 1])
            self._files[path] = StoredFile(final, at, file.record_count, file.file_size_bytes)
        for path, deletes in marked.items():
            last = DeleteFileId(ids[-deletes.number - 1])
            current = StoredDeletes(last, at, deletes.file.delete_count)
            self._files[path] = self._files[path]._replace(deletes=current)

    def to_data_files(self, table_id: TableId, files: Iterable[StoredFile]) -> list[DataFile]:
        """Build minimal entities for ending data files: their paths are not known."""
        return [
            DataFile(
                catalog_id=self._catalog_id,
                begin_snapshot=one.began,
                table_id=table_id,
                data_file_id=one.number,
                path="",
                record_count=one.rows,
                file_size_bytes=one.size,
            )
            for one in files
        ]

    def to_delete_files(self, table_id: TableId, files: Iterable[StoredFile]) -> list[DeleteFile]:
        """Build minimal entities for ending the delete files of data files."""
        return [
            DeleteFile(
                catalog_id=self._catalog_id,
                begin_snapshot=one.deletes.began,
                table_id=table_id,
                delete_file_id=one.deletes.number,
                data_file_id=one.number,
                path="",
                delete_count=one.deletes.rows,
                file_size_bytes=0,
            )
            for one in files
            if one.deletes is not None
        ]
