"""Deletes of a DuckLake: delete files with deletes of one snapshot are shared, and those with
deletes of several snapshots are split."""

from __future__ import annotations

from dataclasses import dataclass, field

from forklake.errors import InvalidInput
from forklake.files.deletes import Deleted, write_delete_files
from forklake.maintenance.ducklake import positions
from forklake.maintenance.ducklake.definitions import DefinitionReader, TableHistory, full_path
from forklake.maintenance.ducklake.id_map import Interval
from forklake.maintenance.ducklake.source import Row
from forklake.maintenance.ducklake.statistics import Statistics
from forklake.model.entities import DeleteFile, InlinedDelete
from forklake.model.ids import DeleteFileId, SnapshotId

# Maximum number of hidden rows of a file that are inlined; more are written to new delete files.
_MOST_INLINED = 1_000


@dataclass(slots=True)
class DeleteReader:
    """Reader of the deletes of data files.

    New delete files are written to `folder`, whose stored path is `stored_folder`; `written_paths`
    holds
    their paths.
    """

    definitions: DefinitionReader
    statistics: Statistics
    folder: str | None
    stored_folder: str
    written_paths: list[str] = field(default_factory=list)
    _files: dict[int, list[Row]] = field(default_factory=dict)
    _inlined: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def load(self) -> None:
        """Read the delete files and the inlined deletes (position, snapshot) of each data file."""
        source = self.definitions.source
        for row in source.rows("ducklake_delete_file"):
            if self.definitions.ids.interval_of(row) is not None:
                self._files.setdefault(row["data_file_id"], []).append(row)
        for table_id in self.definitions.tables:
            for row in source.rows(f"ducklake_inlined_delete_{table_id}"):
                deleted = row["row_id"], row["begin_snapshot"]
                self._inlined.setdefault(row["file_id"], []).append(deleted)

    def add_deletes(
        self,
        table: TableHistory,
        row: Row,
        interval: Interval,
        path: str,
        *,
        has_snapshot_ids: bool,
    ) -> None:
        """Add the deletes of a data file.

        The flag: whether the file stores, for each row, the snapshot that inserted it.
        """
        ids = self.definitions.ids
        hidden = positions.HiddenRows(interval)
        deletes = self._files.get(row["data_file_id"], [])
        if has_snapshot_ids:
            positions.hide_until_inserted(hidden, path, row, ids)
        is_apart = has_snapshot_ids or any(
            positions.stores_snapshots(table.folder, one) for one in deletes
        )
        for one in deletes:
            if is_apart:
                positions.hide_deleted(hidden, table.folder, one, ids)
            else:
                self._share_delete_file(table, one, interval)
        positions.hide_inlined(hidden, self._inlined.get(row["data_file_id"], []), ids)
        if len(hidden) > _MOST_INLINED and (is_apart or not deletes):
            self._write_delete_files(table, row, path, hidden)
        else:
            self._inline_deletes(table, row, hidden)

    def _share_delete_file(self, table: TableHistory, delete: Row, file: Interval) -> None:
        seen = self.definitions.ids.interval_of(delete)
        assert seen is not None
        end = file[1] if seen[1] is None else seen[1]
        row = DeleteFile(
            begin_snapshot=SnapshotId(seen[0]),
            table_id=table.table_id,
            delete_file_id=self.definitions.ids.file(delete["delete_file_id"]),
            data_file_id=self.definitions.ids.file(delete["data_file_id"]),
            path=full_path(table.folder, delete),
            path_is_relative=False,
            delete_count=delete["delete_count"],
            file_size_bytes=delete["file_size_bytes"],
            footer_size=delete["footer_size"],
        )
        self.definitions.imported.add(row, end)
        self.statistics.add_rows(table, (seen[0], end), -row.delete_count)

    def _inline_deletes(self, table: TableHistory, row: Row, hidden: positions.HiddenRows) -> None:
        for position, (begin, end) in hidden:
            one = InlinedDelete(
                begin_snapshot=SnapshotId(begin),
                table_id=table.table_id,
                data_file_id=self.definitions.ids.file(row["data_file_id"]),
                row_position=position,
            )
            self.definitions.imported.add(one, end)
            self.statistics.add_rows(table, (begin, end), -1)

    def _write_delete_files(
        self, table: TableHistory, row: Row, path: str, hidden: positions.HiddenRows
    ) -> None:
        if self.folder is None:
            raise InvalidInput(
                f"The file {path!r} was merged by DuckLake from several files: new delete files"
                " must be written to hide its rows from older snapshots, and no folder was given.",
                remedy="Pass a data path for the new catalog: `data_path` (`--data-path`).",
            )
        phases = list(hidden.intervals())
        files = write_delete_files(self.folder, [Deleted(path, found) for _, found in phases])
        self.written_paths += [one.path for one in files]
        for ((begin, end), _), one in zip(phases, files, strict=True):
            delete = DeleteFile(
                begin_snapshot=SnapshotId(begin),
                table_id=table.table_id,
                delete_file_id=DeleteFileId(self.definitions.ids.files.take()),
                data_file_id=self.definitions.ids.file(row["data_file_id"]),
                path=self.stored_folder + one.path.removeprefix(self.folder),
                delete_count=one.delete_count,
                file_size_bytes=one.file_size_bytes,
                footer_size=one.footer_size,
            )
            self.definitions.imported.add(delete, end)
            self.statistics.add_rows(table, (begin, end), -one.delete_count)
