"""The files of a table at one snapshot, in groups: each group is one manifest.

The sequence number of a file, and of its deletes, is the snapshot in which the file began. So the
content of a manifest does not depend on the published snapshot, and a commit that adds files leaves
all manifests unchanged except those of the newest files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
)
from pyiceberg.typedef import Record

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import Unsupported
from forklake.files.footers import node_paths
from forklake.files.systems import in_parallel
from forklake.iceberg.partitions import IcebergPartitioning
from forklake.iceberg.position_deletes import PATH_FIELD, delete_file_stem, write_deletes
from forklake.iceberg.schema import can_be_read_as, plain_leaves, primitive_type, to_iceberg_value
from forklake.model.children import FileColumnStatistics
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, PartitionId
from forklake.model.scans import ScanFile, is_partial
from forklake.model.values import from_text

_GROUP_RANGE = 1000  # range of data file ids in one group
Locate = Callable[[str], str]  # converts a path to one that is valid on every machine


@dataclass(slots=True)
class ManifestGroup:
    """Files with neighboring ids that have the same partition spec."""

    partitioning: IcebergPartitioning
    files: list[ScanFile] = field(default_factory=list)

    def unique_name(self) -> str:
        """Return a unique name. It contains the begin: a restored file has the id of an old one."""
        return self._hash_name(
            f"{one.file.data_file_id} {one.file.begin_snapshot}" for one in self.files
        )

    @property
    def with_deletes(self) -> ManifestGroup:
        """The group reduced to its files with deleted rows."""
        return ManifestGroup(self.partitioning, [one for one in self.files if one.has_deletes])

    def unique_delete_name(self) -> str:
        """Return a unique name for the deletes of its files."""
        return self._hash_name(
            f"{delete_file_stem(one)} {one.file.begin_snapshot}" for one in self.files
        )

    def _hash_name(self, parts: Iterable[str]) -> str:
        digest = hashlib.sha256(",".join(parts).encode()).hexdigest()[:16]
        return f"{self.partitioning.spec.spec_id}-{digest}"


class TableFiles:
    """The files of a table at a snapshot, described with the current columns of the table."""

    def __init__(self, seen: SnapshotReads, table: Table, fields: Iterable[Field]) -> None:
        self._seen = seen
        self._table = table
        columns = list(fields)
        self._leaves = {one.column_id: one for one in plain_leaves(columns)}
        self.files = seen.scan_files(table)
        widened = [one for _, one in node_paths(columns) if one.promotions]
        for file in self.files:
            _require_plain(table, file, seen)
            _require_readable_types(table, file, widened)

    def partitionings(self) -> dict[PartitionId | None, IcebergPartitioning]:
        """Return the partitionings of the files, by id."""
        numbers = {file.file.partition_id for file in self.files}
        keys = self._seen.partition_columns(numbers)
        return {
            number: IcebergPartitioning(
                number, [one for one in keys if one.partition_id == number], self._leaves
            )
            for number in sorted(numbers, key=lambda one: one or 0)
        }

    def groups(self) -> list[ManifestGroup]:
        """Return the files in groups that do not change when files are added."""
        partitionings = self.partitionings()
        found: dict[tuple[PartitionId | None, int], ManifestGroup] = {}
        for one in sorted(self.files, key=lambda one: one.file.data_file_id):
            partition = one.file.partition_id
            key = (partition, int(one.file.data_file_id) // _GROUP_RANGE)
            found.setdefault(key, ManifestGroup(partitionings[partition])).files.append(one)
        return list(found.values())

    @cached_property
    def _partition_values(self) -> dict[DataFileId, dict[int, str | None]]:
        found: dict[DataFileId, dict[int, str | None]] = {}
        numbers = [one.file.data_file_id for one in self.files]
        for row in self._seen.partition_values(self._table, numbers):
            found.setdefault(row.data_file_id, {})[row.partition_key_index] = row.partition_value
        return found

    def partition_of(self, group: ManifestGroup, file: ScanFile) -> Record:
        """Return the partition values of a file of a group."""
        return group.partitioning.to_record(self._partition_values.get(file.file.data_file_id, {}))

    # Entries

    def data_entries(self, group: ManifestGroup, locate: Locate) -> Iterator[ManifestEntry]:
        """Yield the manifest entries of the data files of a group."""
        numbers = [one.file.data_file_id for one in group.files]
        statistics: dict[DataFileId, list[FileColumnStatistics]] = {}
        for row in self._seen.file_statistics(self._table, numbers):
            statistics.setdefault(row.data_file_id, []).append(row)
        for file in group.files:
            bounds = self._entry_bounds(file, statistics.get(file.file.data_file_id, ()))
            yield _build_entry(
                file,
                content=DataFileContent.DATA,
                file_path=locate(file.path),
                record_count=file.file.record_count,
                file_size_in_bytes=file.file.file_size_bytes,
                partition=self.partition_of(group, file),
                **bounds,
            )

    def write_delete_entries(
        self, group: ManifestGroup, folder: str, locate: Locate
    ) -> Iterator[ManifestEntry]:
        """Write the deletes of the files of a group to a folder, and yield their entries."""
        written = in_parallel(lambda one: write_deletes(folder, one, locate(one.path)), group.files)
        for file, deletes in zip(group.files, written, strict=True):
            only = {PATH_FIELD: locate(file.path).encode()}
            yield _build_entry(
                file,
                content=DataFileContent.POSITION_DELETES,
                file_path=deletes.path,
                record_count=deletes.record_count,
                file_size_in_bytes=deletes.file_size,
                partition=self.partition_of(group, file),
                lower_bounds=only,
                upper_bounds=only,
            )

    def _entry_bounds(self, file: ScanFile, rows: Sequence[FileColumnStatistics]) -> dict[str, Any]:
        """Return the column statistics of a file in the form of a manifest entry."""
        pairs = [
            (row, self._leaves[row.column_id]) for row in rows if row.column_id in self._leaves
        ]
        count = file.file.record_count
        return {
            "value_counts": {int(one.column_id): count for one, _ in pairs},
            "null_value_counts": _drop_missing((one.column_id, one.null_count) for one, _ in pairs),
            "lower_bounds": _drop_missing(
                (one.column_id, _encode_bound(leaf, one.min_value)) for one, leaf in pairs
            ),
            "upper_bounds": _drop_missing(
                (one.column_id, _encode_bound(leaf, one.max_value)) for one, leaf in pairs
            ),
        }


def _build_entry(file: ScanFile, **values: Any) -> ManifestEntry:
    """Return the manifest entry of a data file, or of its deletes."""
    began = int(file.file.begin_snapshot)
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.EXISTING,
        snapshot_id=began,
        sequence_number=began,
        file_sequence_number=began,
        data_file=DataFile.from_args(file_format=FileFormat.PARQUET, **values),
    )


def _drop_missing(pairs: Iterable[tuple[ColumnId, Any]]) -> dict[int, Any]:
    return {int(column): value for column, value in pairs if value is not None}


def _encode_bound(leaf: Field, text: str | None) -> bytes | None:
    """Return a bound in the Iceberg encoding. Blobs have none: their stored bounds are cut."""
    if text is None or leaf.type == "blob":
        return None
    return to_bytes(primitive_type(leaf), to_iceberg_value(leaf, from_text(leaf.type, text)))


def _require_readable_types(table: Table, file: ScanFile, widened: Iterable[Field]) -> None:
    """Raise Unsupported if a file predates a type promotion that Iceberg does not support."""
    for one in widened:
        before = one.type_in(file.file.begin_snapshot)
        if not can_be_read_as(before, one):
            raise Unsupported(
                f"Files of table '{table.table_name}' hold the column '{one.name}' as {before},"
                f" which Iceberg readers cannot read as {one.type}.",
                remedy="Rewrite these files: run merge_adjacent_files, or UPDATE the rows.",
            )


def _require_plain(table: Table, file: ScanFile, seen: SnapshotReads) -> None:
    """Raise Unsupported if an Iceberg reader would see other rows in a file than Forklake."""
    if file.file.encryption_key is not None:
        reason = "are encrypted, and Iceberg readers do not have the key"
    elif is_partial(file, seen.snapshot_id):
        reason = "hold rows of later snapshots"
    else:
        return
    raise Unsupported(
        f"Files of table '{table.table_name}' {reason}.",
        remedy="Read the table with Spark.",
    )
