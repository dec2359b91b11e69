"""Files of a Delta table as Arrow columns, for checkpoints: no object is created for each file.

This covers files that are described by their rows in the metastore alone: no row of them was
deleted, and no imported log has an action for them. The few other files are handled one by one.
"""

from __future__ import annotations

from posixpath import basename

import pyarrow as pa
import pyarrow.compute as pc

from forklake.catalog.file_columns import FILE, fetch_chosen, fetch_visible
from forklake.catalog.paths import DataPaths
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import Metadata
from forklake.delta.mirror.links import relative_uri
from forklake.delta.statistics import statistics_leaves
from forklake.delta.statistics_columns import FileStatistics, format_statistics_column
from forklake.model.children import FileAction
from forklake.model.entities import Table
from forklake.model.ids import SnapshotId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, DELTA_VERSION, INLINED_DELETE
from forklake.store.operations import Statement
from forklake.store.rows import Reader

_NUMBER = pa.schema({"data_file_id": pa.int64()})
_TIME = pa.schema({"begin_snapshot": pa.int64(), "timestamp": pa.int64()})
_NO_VALUES = pa.map_(pa.string(), pa.string())


class FileColumns:
    """Plain files of a table at a snapshot: live ones, and those removed since a snapshot."""

    def __init__(
        self, seen: SnapshotReads, table: Table, paths: DataPaths, metadata: Metadata, location: str
    ) -> None:
        self._seen = seen
        self._table = table
        self._paths = paths
        self._metadata = metadata
        self._location = location
        with seen.reading() as reader:
            self._times = fetch_visible(reader, DELTA_VERSION, table.table_id, _TIME)
            self._special = self._read_special(reader)

    def read_live(self) -> tuple[pa.RecordBatch, set[int]]:
        """Return the plain live files as checkpoint columns, and the ids of all other files."""
        leaves = statistics_leaves(self._seen.state.fields(self._table))
        found = self._seen.file_columns(self._table, [leaf.column_id for leaf in leaves.values()])
        is_plain, others = self._split_plain(found.files)
        files = found.files.filter(is_plain)
        statistics = {
            number: FileStatistics(
                *(column.combine_chunks() for column in one.filter(is_plain).columns)
            )
            for number, one in found.bounds.items()
        }
        counts = files["record_count"].combine_chunks()
        columns = {
            **self._common_columns(files),
            "modification_time": self._version_times(files["begin_snapshot"]),
            "stats": format_statistics_column(counts, statistics, leaves),
        }
        return pa.RecordBatch.from_pydict(columns), others

    def read_removed(self, since: SnapshotId) -> tuple[pa.RecordBatch, set[int]]:
        """Return the files that ended since a snapshot, in the same form."""
        schema = FILE.append(pa.field("seen_until", pa.int64()))
        with self._seen.reading() as reader:
            ended = reader.history(
                DATA_FILE, self._table.table_id, "h.seen_until >= :since", since=since
            )
            files = fetch_chosen(reader, ended, schema)
        is_plain, others = self._split_plain(files)
        files = files.filter(is_plain)
        columns = {
            **self._common_columns(files),
            "deletion_timestamp": self._version_times(files["seen_until"]),
        }
        return pa.RecordBatch.from_pydict(columns), others | set(self._special.to_pylist())

    def _read_special(self, reader: Reader) -> pa.Array:
        """Return the ids of files that ever had deletes, or that have an action of another log."""
        scope = self._table.table_id
        actions = f"SELECT data_file_id FROM {FileAction.NAME} WHERE table_id = :scope"
        statements = [
            reader.history(DELETE_FILE, scope, "1 = 1"),
            reader.history(INLINED_DELETE, scope, "1 = 1"),
            Statement(actions, {"scope": scope}),
        ]
        found = pa.concat_tables(fetch_chosen(reader, one, _NUMBER) for one in statements)
        return found["data_file_id"].unique()

    def _split_plain(self, files: pa.Table) -> tuple[pa.ChunkedArray, set[int]]:
        """Return a mask of the plain files, and the ids of the others."""
        numbers = files["data_file_id"]
        if self._metadata.partition_columns:  # their partition values must be written
            is_special = pc.is_valid(numbers)
        else:
            is_special = pc.is_in(numbers, self._special)
        return pc.invert(is_special), set(numbers.filter(is_special).to_pylist())

    def _common_columns(self, files: pa.Table) -> dict[str, pa.Array]:
        return {
            "path": pa.array(self._log_paths(files), pa.string()),
            "partition_values": pa.array([[]] * files.num_rows, _NO_VALUES),
            "size": files["file_size_bytes"].combine_chunks(),
        }

    def _version_times(self, snapshots: pa.ChunkedArray) -> pa.Array:
        """Return the times of versions; files older than all versions get the table's own time."""
        places = pc.index_in(snapshots, self._times["begin_snapshot"])
        times = self._times["timestamp"].take(places).combine_chunks()
        return pc.fill_null(times, self._metadata.created_time or 0)

    def _log_paths(self, files: pa.Table) -> list[str]:
        root = f"{self._location}/"
        names = []
        columns = ("data_file_id", "catalog_id", "path", "path_is_relative")
        for number, owner, path, is_relative in zip(
            *(files[name].to_pylist() for name in columns), strict=True
        ):
            full = self._paths.below(owner, path) if is_relative else path
            is_inside = full.startswith(root)
            names.append(full.removeprefix(root) if is_inside else f"{number}-{basename(full)}")
        return [relative_uri(name) for name in names]
