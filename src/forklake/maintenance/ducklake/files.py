"""Data files of a DuckLake: shared in place, with statistics from their footers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forklake.errors import Unsupported
from forklake.files.contents import Contents, read_contents
from forklake.files.systems import for_each_file
from forklake.maintenance.ducklake.columns import MappedColumns
from forklake.maintenance.ducklake.definitions import DefinitionReader, TableHistory, full_path
from forklake.maintenance.ducklake.deletes import DeleteReader
from forklake.maintenance.ducklake.id_map import Interval
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
class DataFileReader:
    """Reader of the data files of all tables, with their deletes."""

    definitions: DefinitionReader
    statistics: Statistics
    deletes: DeleteReader
    _mappings: dict[tuple[int, tuple[MappedName, ...]], MappingId] = field(default_factory=dict)
    _names: dict[int, list[Row]] = field(default_factory=dict)

    def gather(self) -> None:
        """Read all files that are visible at some snapshot."""
        source, tables = self.definitions.source, self.definitions.tables
        for name in source.rows("ducklake_name_mapping"):
            self._names.setdefault(name["mapping_id"], []).append(name)
        rows = [
            (row, interval)
            for row in source.rows("ducklake_data_file")
            if row["table_id"] in tables
            and (interval := self.definitions.ids.interval_of(row)) is not None
        ]
        self.deletes.load()
        paths = [full_path(tables[row["table_id"]].folder, row) for row, _ in rows]
        all_contents = for_each_file(read_contents, paths)
        for (row, interval), path, contents in zip(rows, paths, all_contents, strict=True):
            table = tables[row["table_id"]]
            has_snapshot_ids = any(node.name == SNAPSHOT_ID for node in contents.nodes)
            _refuse_unreadable(path, row, has_snapshot_ids=has_snapshot_ids)
            self._add_file(table, row, interval, path, contents)
            self.deletes.add_deletes(table, row, interval, path, has_snapshot_ids=has_snapshot_ids)
        self._gather_partition_values({row["data_file_id"]: row for row, _ in rows})

    def _add_file(
        self, table: TableHistory, row: Row, interval: Interval, path: str, contents: Contents
    ) -> None:
        ids, imported = self.definitions.ids, self.definitions.imported
        found = MappedColumns(table, table.newest_fields())
        if row["mapping_id"] is None:
            found.map_by_field_id(contents.nodes)
        else:
            found.map_by_name(contents.nodes, self._names.get(row["mapping_id"], []))
        if not found.names:
            raise Unsupported(
                f"The file {path!r} has no field ids for its columns.",
                remedy="Rewrite the file with DuckLake, and import again.",
                path=path,
            )
        footer = contents.footer(found.leaves)
        is_partitioned = row["partition_id"] in self.definitions.partitionings
        file = DataFile(
            begin_snapshot=SnapshotId(interval[0]),
            table_id=table.table_id,
            data_file_id=ids.file(row["data_file_id"]),
            path=path,
            path_is_relative=False,
            record_count=footer.record_count,
            file_size_bytes=footer.file_size_bytes,
            footer_size=footer.footer_size,
            row_id_start=row["row_id_start"],
            partition_id=ids.entity(row["partition_id"]) if is_partitioned else None,
            mapping_id=self._name_mapping(table, found.names),
        )
        imported.add(file, interval[1])
        for one in footer.bounds:
            imported.add_child(
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
        self.statistics.add_rows(table, interval, footer.record_count, footer.file_size_bytes)
        self.statistics.add_bounds(table, footer.bounds)

    def _name_mapping(self, table: TableHistory, names: Sequence[MappedName]) -> MappingId:
        """Return the name mapping for a file; files with equal columns share one."""
        key = table.old_id, tuple(names)
        if key not in self._mappings:
            number = self._mappings[key] = MappingId(self.definitions.ids.files.take())
            imported = self.definitions.imported
            imported.add_child(ColumnMapping(mapping_id=number, table_id=table.table_id))
            for position, one in enumerate(names):
                imported.add_child(NameMapping.of(number, position, one))
        return self._mappings[key]

    def _gather_partition_values(self, files: dict[int, Row]) -> None:
        for row in self.definitions.source.rows("ducklake_file_partition_value"):
            file = files.get(row["data_file_id"])
            if file is None or file["partition_id"] not in self.definitions.partitionings:
                continue
            self.definitions.imported.add_child(
                FilePartitionValue(
                    data_file_id=self.definitions.ids.file(row["data_file_id"]),
                    table_id=self.definitions.tables[file["table_id"]].table_id,
                    partition_key_index=row["partition_key_index"],
                    partition_value=row["partition_value"],
                )
            )


def _refuse_unreadable(path: str, row: Row, *, has_snapshot_ids: bool) -> None:
    if not has_snapshot_ids and any(row.get(name) is not None for name in _MERGED):
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
