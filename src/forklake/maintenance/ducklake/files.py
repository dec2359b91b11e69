"""Data files of a DuckLake: shared in place, with statistics from their footers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forklake.errors import Unsupported
from forklake.files.contents import Contents, read_contents
from forklake.files.systems import for_each_file
from forklake.maintenance.ducklake.columns import Found
from forklake.maintenance.ducklake.definitions import Definitions, TableHistory, full_path
from forklake.maintenance.ducklake.deletes import Deletes
from forklake.maintenance.ducklake.numbers import Interval
from forklake.maintenance.ducklake.source import Row
from forklake.maintenance.ducklake.statistics import Statistics
from forklake.model.children import (
    ColumnMapping,
    FileColumnStatistics,
    FilePartitionValue,
    NameMapping,
)
from forklake.model.entities import DataFile
from forklake.model.files import SNAPSHOT_ID, MappedName
from forklake.model.ids import MappingId, SnapshotId

_MERGED = ("partial_max", "partial_file_info")  # columns of merged files, by DuckLake version


@dataclass(slots=True)
class DataFiles:
    """Reader of the data files of all tables, with their deletes."""

    definitions: Definitions
    statistics: Statistics
    deletes: Deletes
    _mappings: dict[tuple[int, tuple[MappedName, ...]], MappingId] = field(default_factory=dict)
    _names: dict[int, list[Row]] = field(default_factory=dict)

    def gather(self) -> None:
        """Read all files that are visible at some snapshot."""
        source, tables = self.definitions.source, self.definitions.tables
        for name in source.rows("ducklake_name_mapping"):
            self._names.setdefault(name["mapping_id"], []).append(name)
        rows = [
            (row, seen)
            for row in source.rows("ducklake_data_file")
            if row["table_id"] in tables
            and (seen := self.definitions.numbers.interval_of(row)) is not None
        ]
        self.deletes.load()
        paths = [full_path(tables[row["table_id"]].folder, row) for row, _ in rows]
        all_contents = for_each_file(read_contents, paths)
        for (row, seen), path, contents in zip(rows, paths, all_contents, strict=True):
            table = tables[row["table_id"]]
            tells = any(node.name == SNAPSHOT_ID for node in contents.nodes)
            _refuse_unreadable(path, row, tells=tells)
            self._file(table, row, seen, path, contents)
            self.deletes.of_file(table, row, seen, path, tells=tells)
        self._partition_values({row["data_file_id"]: row for row, _ in rows})

    def _file(
        self, table: TableHistory, row: Row, seen: Interval, path: str, contents: Contents
    ) -> None:
        numbers, gathered = self.definitions.numbers, self.definitions.gathered
        found = Found(table, table.newest_fields())
        if row["mapping_id"] is None:
            found.by_number(contents.nodes)
        else:
            found.by_mapping(contents.nodes, self._names.get(row["mapping_id"], []))
        if not found.names:
            raise Unsupported(
                f"The file {path!r} has no field ids for its columns.",
                remedy="Rewrite the file with DuckLake, and import again.",
                path=path,
            )
        footer = contents.footer(found.leaves)
        is_partitioned = row["partition_id"] in self.definitions.partitionings
        file = DataFile(
            begin_snapshot=SnapshotId(seen[0]),
            table_id=table.table_id,
            data_file_id=numbers.file(row["data_file_id"]),
            path=path,
            path_is_relative=False,
            record_count=footer.record_count,
            file_size_bytes=footer.file_size_bytes,
            footer_size=footer.footer_size,
            row_id_start=row["row_id_start"],
            partition_id=numbers.entity(row["partition_id"]) if is_partitioned else None,
            mapping_id=self._mapping(table, found.names),
        )
        gathered.add(file, seen[1])
        for one in footer.bounds:
            gathered.add_child(
                FileColumnStatistics(
                    data_file_id=file.data_file_id,
                    table_id=table.table_id,
                    column_id=one.column_id,
                    column_size_bytes=one.column_size_bytes,
                    value_count=one.value_count,
                    null_count=one.null_count,
                    min_value=one.min_value,
                    max_value=one.max_value,
                    contains_nan=one.contains_nan,
                )
            )
        self.statistics.count(table, seen, footer.record_count, footer.file_size_bytes)
        self.statistics.bound(table, footer.bounds)

    def _mapping(self, table: TableHistory, names: Sequence[MappedName]) -> MappingId:
        """Return the name mapping for a file; files with equal columns share one."""
        key = table.old_id, tuple(names)
        if key not in self._mappings:
            number = self._mappings[key] = MappingId(self.definitions.numbers.files.take())
            gathered = self.definitions.gathered
            gathered.add_child(ColumnMapping(mapping_id=number, table_id=table.table_id))
            for position, one in enumerate(names):
                gathered.add_child(NameMapping.of(number, position, one))
        return self._mappings[key]

    def _partition_values(self, files: dict[int, Row]) -> None:
        for row in self.definitions.source.rows("ducklake_file_partition_value"):
            file = files.get(row["data_file_id"])
            if file is None or file["partition_id"] not in self.definitions.partitionings:
                continue
            self.definitions.gathered.add_child(
                FilePartitionValue(
                    data_file_id=self.definitions.numbers.file(row["data_file_id"]),
                    table_id=self.definitions.tables[file["table_id"]].table_id,
                    partition_key_index=row["partition_key_index"],
                    partition_value=row["partition_value"],
                )
            )


def _refuse_unreadable(path: str, row: Row, *, tells: bool) -> None:
    if not tells and any(row.get(name) is not None for name in _MERGED):
        raise Unsupported(
            f"The file {path!r} was merged by DuckLake from several files, and does not store the"
            " snapshots of its rows.",
            remedy="Expire all snapshots of the DuckLake except the last one, and import again.",
            path=path,
        )
    if row["encryption_key"] is not None:
        raise Unsupported(
            f"The file {path!r} is encrypted in a format that only DuckDB reads.",
            remedy="Import a DuckLake that is not encrypted.",
            path=path,
        )
