"""Conversion of files of a lake table to add and remove actions of a Delta log.

Delta readers expect all files below the root of the table, under names that do not change. Files in
other folders, of a parent catalog or of the lake, get a link there. Deleted rows become deletion
vectors.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from urllib.parse import quote

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import Add, DeletionVector, Metadata, Remove
from forklake.delta.log.paths import canonical_path, is_absolute
from forklake.delta.mirror.links import link_missing_files, relative_uri
from forklake.delta.statistics import format_statistics, statistics_leaves
from forklake.delta.values import log_value
from forklake.errors import Unsupported
from forklake.files.conditional_put import put_if_absent
from forklake.files.deletes import read_positions
from forklake.files.paths import NO_VALUE
from forklake.files.systems import exists
from forklake.files.vectors import RELATIVE, vector_in_file, vector_path, write_vector
from forklake.model.children import FileColumnStatistics
from forklake.model.entities import DataFile, DeltaVersion, Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, DeleteFileId, SnapshotId
from forklake.model.kinds import DELTA_VERSION
from forklake.model.names import folded
from forklake.model.scans import ScanFile

_VECTORS = uuid.UUID("6f1b7c1e-0d6c-4f60-9a54-7f2f2f0a4a11")  # namespace of vector file names
_FileKey = tuple[DataFileId, DeleteFileId | None]
_Key = tuple[ColumnId, str, str]  # a partition column: id, physical name, type


@dataclass(frozen=True, slots=True)
class FileDetails:
    """Metadata of some files, read at once for the conversion of each of them."""

    actions: dict[_FileKey, Add]
    bounds: dict[DataFileId, list[FileColumnStatistics]]
    values: dict[DataFileId, dict[ColumnId, str | None]]
    times: dict[SnapshotId, int]


def read_file_details(
    seen: SnapshotReads, table: Table, files: Sequence[ScanFile], *, with_bounds: bool = True
) -> FileDetails:
    """Read the metadata of files of a table, with a constant number of queries."""
    if not files:
        return FileDetails({}, {}, {}, {})
    ids = sorted({file.file.data_file_id for file in files})
    actions = {
        (one.data_file_id, one.delete_file_id): Add.from_body(json.loads(one.body))
        for one in seen.file_actions(table, ids)
    }
    bounds: dict[DataFileId, list[FileColumnStatistics]] = {}
    for row in seen.file_statistics(table, ids) if with_bounds else ():
        bounds.setdefault(row.data_file_id, []).append(row)
    values = seen.values_by_column(table, (file.file for file in files))
    return FileDetails(actions, bounds, values, _read_version_times(seen, table, files))


def _read_version_times(
    seen: SnapshotReads, table: Table, files: Iterable[ScanFile]
) -> dict[SnapshotId, int]:
    """Return the times of the versions in which files began."""
    began = sorted({file.file.begin_snapshot for file in files})
    with seen.reading() as reader:
        rows: list[DeltaVersion] = reader.among(
            DELTA_VERSION, table.table_id, "begin_snapshot", began
        )
    return {row.begin_snapshot: row.timestamp for row in rows}


class FileConverter:
    """Converter of the files of a table at one snapshot, for readers at a location."""

    def __init__(
        self, seen: SnapshotReads, table: Table, metadata: Metadata, location: str
    ) -> None:
        self._seen = seen
        self._table = table
        self._location = location
        self._since = metadata.created_time
        fields = seen.state.fields(table)
        self._keys = _partition_columns(metadata, fields)
        keys = {column_id for column_id, _, _ in self._keys}
        self._leaves = statistics_leaves(one for one in fields if one.column_id not in keys)

    def to_adds(
        self, files: Sequence[ScanFile], details: FileDetails, *, data_change: bool = True
    ) -> list[Add]:
        """Return the add actions of files, after creating missing links at the location."""
        self._refuse_encrypted(files)
        imported = {number for number, _ in details.actions}
        refuse_other_names(
            self._seen,
            self._table,
            [one.file for one in files if one.file.data_file_id not in imported],
        )
        names = [self._log_path(file, details) for file in files]
        link_missing_files(
            (file.path, target)
            for file, name in zip(files, names, strict=True)
            if file.path != (target := f"{self._location}/{name}")
        )
        return [
            self._to_add(file, name, details, data_change)
            for file, name in zip(files, names, strict=True)
        ]

    def to_removes(
        self,
        files: Iterable[tuple[int, ScanFile]],
        details: FileDetails,
        *,
        data_change: bool = True,
    ) -> list[Remove]:
        """Return the remove actions of files, given with their removal times."""
        return [self._to_remove(file, details, time, data_change) for time, file in files]

    # One file

    def _log_path(self, file: ScanFile, details: FileDetails) -> str:
        """Return the path of a file relative to the location."""
        root = f"{self._location}/"
        if file.path.startswith(root):
            return file.path.removeprefix(root)
        imported = details.actions.get((file.file.data_file_id, None))
        if imported is not None and not is_absolute(imported.path):
            return canonical_path(imported.path)
        # Some readers take partition values from folder names as soon as one file has such folders.
        folders = "".join(
            f"{quote(name, safe='')}={NO_VALUE if value is None else quote(value, safe=' ')}/"
            for name, value in self._partition_values(file, details).items()
        )
        return f"{folders}{int(file.file.data_file_id)}-{basename(file.path)}"

    def _to_add(self, file: ScanFile, name: str, details: FileDetails, data_change: bool) -> Add:
        imported, vector = self._imported_add(file, details), self._deletion_vector(file, details)
        if imported is not None:
            same = canonical_path(imported.path) == name
            path = imported.path if same else relative_uri(name)
            return replace(imported, path=path, deletion_vector=vector)
        base = details.actions.get((file.file.data_file_id, None))
        return Add(
            path=base.path if base and canonical_path(base.path) == name else relative_uri(name),
            partition_values=self._partition_values(file, details),
            size=file.file.file_size_bytes,
            modification_time=base.modification_time if base else self._added_at(file, details),
            data_change=data_change,
            stats=base.stats if base and base.stats else self._format_statistics(file, details),
            deletion_vector=vector,
        )

    def _to_remove(
        self, file: ScanFile, details: FileDetails, time: int, data_change: bool
    ) -> Remove:
        name = self._log_path(file, details)
        base = details.actions.get((file.file.data_file_id, None))
        return Remove(
            path=base.path if base and canonical_path(base.path) == name else relative_uri(name),
            deletion_timestamp=time,
            data_change=data_change,
            extended_file_metadata=True,
            partition_values=self._partition_values(file, details),
            size=file.file.file_size_bytes,
            deletion_vector=self._deletion_vector(file, details),
            base_row_id=base.base_row_id if base else None,
            default_row_commit_version=base.default_row_commit_version if base else None,
        )

    def _imported_add(self, file: ScanFile, details: FileDetails) -> Add | None:
        """Return the imported add action of a file, if the deleted rows are still the same."""
        delete = file.delete_file.delete_file_id if file.delete_file else None
        is_same = not file.deleted_positions
        return details.actions.get((file.file.data_file_id, delete)) if is_same else None

    def _added_at(self, file: ScanFile, details: FileDetails) -> int:
        """Return the time of the version that added a file, or the creation time of the table."""
        return details.times.get(file.file.begin_snapshot) or self._since or 0

    def _partition_values(self, file: ScanFile, details: FileDetails) -> dict[str, str | None]:
        values = details.values.get(file.file.data_file_id, {})
        for column_id, name, _ in self._keys:
            if column_id not in values:
                raise Unsupported(
                    f"The file {file.path!r} has no value of the partition column '{name}'.",
                    remedy="Rewrite it: partition the table again with ALTER TABLE, then run"
                    " merge_adjacent_files.",
                )
        return {name: log_value(kind, values[column]) for column, name, kind in self._keys}

    def _format_statistics(self, file: ScanFile, details: FileDetails) -> str:
        return format_statistics(
            file.file.record_count,
            details.bounds.get(file.file.data_file_id, ()),
            self._leaves,
            is_tight=not file.has_deletes,
        )

    def _deletion_vector(self, file: ScanFile, details: FileDetails) -> DeletionVector | None:
        if not file.has_deletes:
            return None
        imported = self._imported_add(file, details)
        vector = imported.deletion_vector if imported else None
        if vector is not None and self._is_present(vector):
            return vector
        positions = set(file.deleted_positions)
        if file.delete_path is not None:
            positions |= set(read_positions(file.delete_path, file.path).to_pylist())
        return self._write_vector(file, sorted(positions))

    def _write_vector(self, file: ScanFile, positions: Sequence[int]) -> DeletionVector:
        """Write a vector to a file with a deterministic name, so that a retry reuses the file."""
        delete = file.delete_file.delete_file_id if file.delete_file else 0
        vector_name = (
            f"{self._table.table_uuid}/{int(file.file.data_file_id)}/{int(delete)}/{len(positions)}"
        )
        number = uuid.uuid5(_VECTORS, vector_name)
        data = write_vector(positions)
        put_if_absent(f"{self._location}/deletion_vector_{number}.bin", data)
        vector = vector_in_file(number, data)
        return DeletionVector(
            storage_type=vector.storage_type,
            path_or_inline=vector.path_or_inline,
            offset=vector.offset,
            size_in_bytes=vector.size_in_bytes,
            cardinality=vector.cardinality,
        )

    def _is_present(self, vector: DeletionVector) -> bool:
        """Return whether an imported vector is readable at the location."""
        if vector.storage_type != RELATIVE:
            return True
        path = vector_path(vector.storage_type, vector.path_or_inline, self._location)
        return path is not None and exists(path)

    def _refuse_encrypted(self, files: Sequence[ScanFile]) -> None:
        for file in files:
            if file.file.encryption_key is not None:
                raise Unsupported(
                    f"The file {file.path!r} of table '{self._table.table_name}' is encrypted, but"
                    " Delta tables cannot have encrypted files.",
                    remedy="Copy the table to a catalog without encryption, and publish the copy.",
                )


def refuse_other_names(seen: SnapshotReads, table: Table, files: Sequence[DataFile]) -> None:
    """Raise Unsupported if foreign files have other column names, or values in folder names.

    Delta readers look up columns in files by their physical name, and would find nothing.
    """
    used = {one.mapping_id for one in files if one.mapping_id is not None}
    if not used:
        return
    mappings = seen.name_mappings(table)
    wanted = dict(_names_in_files(seen.state.fields(table)))
    for mapping_id in used:
        for one in mappings[mapping_id][1]:
            name = wanted.get(one.target_field_id, one.source_name)
            if one.is_partition or one.source_name != name:
                raise Unsupported(
                    f"Files of table '{table.table_name}' that another program wrote do not have"
                    f" a column {name!r}: Delta readers look up the column by this name.",
                    remedy="Rewrite these files: run merge_adjacent_files, or UPDATE the rows.",
                )


def _names_in_files(fields: Iterable[Field]) -> Iterator[tuple[ColumnId, str]]:
    """Yield the physical names of columns and struct fields."""
    for one in fields:
        yield one.column_id, one.physical_name
        inside = one.fields if one.type == "struct" else ()
        yield from _names_in_files(inside)


def _partition_columns(metadata: Metadata, fields: Sequence[Field]) -> list[_Key]:
    """Return the partition columns of the log."""
    named = {folded(one.name): one for one in fields}
    found = [named[folded(name)] for name in metadata.partition_columns]
    return [(one.column_id, one.physical_name, one.type) for one in found]
