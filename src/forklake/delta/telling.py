"""Files of a lake's table in the words of a Delta log: what a version adds and removes.

A reader of files wants all of them below the table's root, under names that stay. Files that are
elsewhere, because a fork shares them or the lake wrote them to a folder of its own, get a second
name there. Deleted rows become deletion vectors.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from urllib.parse import quote

from forklake.catalog.reading import Snapshotted
from forklake.delta.actions import Add, DeletionVector, Metadata, Remove
from forklake.delta.log.paths import canonical, is_absolute
from forklake.delta.mirror.linking import make_present, relative_uri
from forklake.delta.statistics import statistics_leaves, statistics_text
from forklake.delta.values import log_value
from forklake.errors import Unsupported
from forklake.files.deletes import read_positions
from forklake.files.paths import NO_VALUE
from forklake.files.putting import put_if_absent
from forklake.files.systems import exists
from forklake.files.vectors import RELATIVE, vector_in_file, vector_path, write_vector
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, DataFileId, DeleteFileId
from forklake.model.names import folded
from forklake.model.scans import ScanFile

_VECTORS = uuid.UUID("6f1b7c1e-0d6c-4f60-9a54-7f2f2f0a4a11")  # names of ours are made from this
_FileKey = tuple[DataFileId, DeleteFileId | None]
_Key = tuple[ColumnId, str, str]  # a column, its name in files, its type


@dataclass(frozen=True, slots=True)
class Told:
    """What was known of some files at once, for those who tell of each."""

    actions: dict[_FileKey, Add]
    bounds: dict[DataFileId, list[ColumnBounds]]
    values: dict[DataFileId, dict[ColumnId, str | None]]


class Teller:
    """Tells of files of a table as one snapshot shows it, for readers at a location."""

    def __init__(
        self, seen: Snapshotted, table: Table, metadata: Metadata, location: str, table_key: str
    ) -> None:
        self._seen = seen
        self._table = table
        self._location = location
        self._table_key = table_key
        self._fields = seen.state.fields(table)
        self._keys = _partition_columns(metadata, self._fields)

    def adds(self, files: Sequence[ScanFile], *, time: int, data_change: bool = True) -> list[Add]:
        """The files as a log adds them; they are present at the location from now on."""
        self._refuse_encrypted(files)
        known = self._known(files)
        make_present(
            (file.path, f"{self._location}/{name}")
            for file in files
            if (name := self._name(file, known)) and file.path != f"{self._location}/{name}"
        )
        return [self._add(file, known, time, data_change) for file in files]

    def removes(
        self, files: Sequence[ScanFile], *, time: int, data_change: bool = True
    ) -> list[Remove]:
        """The files as a log removes them."""
        known = self._known(files)
        found = []
        for file in files:
            add = self._add(file, known, time, data_change)
            found.append(
                Remove(
                    path=add.path,
                    deletion_timestamp=time,
                    data_change=data_change,
                    extended_file_metadata=True,
                    partition_values=add.partition_values,
                    size=add.size,
                    deletion_vector=add.deletion_vector,
                    base_row_id=add.base_row_id,
                    default_row_commit_version=add.default_row_commit_version,
                )
            )
        return found

    # What is known

    def _known(self, files: Sequence[ScanFile]) -> Told:
        ids = sorted({file.file.data_file_id for file in files})
        actions = {
            (one.data_file_id, one.delete_file_id): Add.from_body(json.loads(one.body))
            for one in self._seen.file_actions(self._table, ids)
        }
        bounds: dict[DataFileId, list[ColumnBounds]] = {}
        for row in self._seen.file_statistics(self._table, ids):
            bounds.setdefault(row.data_file_id, []).append(
                ColumnBounds(
                    row.column_id,
                    value_count=row.value_count,
                    null_count=row.null_count,
                    min_value=row.min_value,
                    max_value=row.max_value,
                    contains_nan=row.contains_nan,
                )
            )
        return Told(actions, bounds, self._partition_values(files) if self._keys else {})

    def _partition_values(
        self, files: Iterable[ScanFile]
    ) -> dict[DataFileId, dict[ColumnId, str | None]]:
        numbers = {file.file.data_file_id: file.file.partition_id for file in files}
        columns = {
            (one.partition_id, one.partition_key_index): one.column_id
            for one in self._seen.partition_columns(set(numbers.values()))
        }
        found: dict[DataFileId, dict[ColumnId, str | None]] = {one: {} for one in numbers}
        for row in self._seen.partition_values(self._table, sorted(numbers)):
            partition_id = numbers[row.data_file_id]
            assert partition_id is not None
            column = columns[partition_id, row.partition_key_index]
            found[row.data_file_id][column] = row.partition_value
        return found

    # One file

    def _name(self, file: ScanFile, known: Told) -> str:
        """The name of a file below the location."""
        root = f"{self._location}/"
        if file.path.startswith(root):
            return file.path.removeprefix(root)
        stated = known.actions.get((file.file.data_file_id, None))
        if stated is not None and not is_absolute(stated.path):
            return canonical(stated.path)
        # Some readers take the values from the names of folders, as soon as one file has such.
        folders = "".join(
            f"{quote(name, safe='')}={NO_VALUE if value is None else quote(value, safe=' ')}/"
            for name, value in self._values(file, known).items()
        )
        return f"{folders}{int(file.file.data_file_id)}-{basename(file.path)}"

    def _add(self, file: ScanFile, known: Told, time: int, data_change: bool) -> Add:
        number = file.file.data_file_id
        delete = file.delete_file.delete_file_id if file.delete_file else None
        stated = known.actions.get((number, delete))
        vector = self._vector(file, stated)
        if stated is not None and not file.deleted_positions:
            name = relative_uri(self._name(file, known))
            same = canonical(stated.path) == canonical(name)
            return replace(stated, path=stated.path if same else name, deletion_vector=vector)
        base = known.actions.get((number, None))
        return Add(
            path=relative_uri(self._name(file, known)),
            partition_values=self._values(file, known),
            size=file.file.file_size_bytes,
            modification_time=base.modification_time if base else time,
            data_change=data_change,
            stats=base.stats if base and base.stats else self._statistics(file, known),
            deletion_vector=vector,
        )

    def _values(self, file: ScanFile, known: Told) -> dict[str, str | None]:
        values = known.values.get(file.file.data_file_id, {})
        for column_id, name, _ in self._keys:
            if column_id not in values:
                raise Unsupported(
                    f"The file {file.path!r} has no value of the partition column '{name}'.",
                    remedy="Rewrite it: partition the table again and merge its files.",
                )
        return {name: log_value(kind, values[column]) for column, name, kind in self._keys}

    def _statistics(self, file: ScanFile, known: Told) -> str:
        keys = {column_id for column_id, _, _ in self._keys}
        inside = [one for one in self._fields if one.column_id not in keys]
        return statistics_text(
            file.file.record_count,
            known.bounds.get(file.file.data_file_id, ()),
            statistics_leaves(inside),
            is_tight=not file.has_deletes,
        )

    def _vector(self, file: ScanFile, stated: Add | None) -> DeletionVector | None:
        if not file.has_deletes:
            return None
        vector = stated.deletion_vector if stated and not file.deleted_positions else None
        if vector is not None and self._is_present(vector):
            return vector
        positions = set(file.deleted_positions)
        if file.delete_path is not None:
            positions |= set(read_positions(file.delete_path, file.path).to_pylist())
        return self._written(file, sorted(positions))

    def _written(self, file: ScanFile, positions: Sequence[int]) -> DeletionVector:
        """A vector in a file of its own, whose name follows from what it says: who tells a version
        again finds it there."""
        delete = file.delete_file.delete_file_id if file.delete_file else 0
        told = f"{self._table_key}/{int(file.file.data_file_id)}/{int(delete)}/{len(positions)}"
        number = uuid.uuid5(_VECTORS, told)
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
        """Whether readers at the location find a vector that another log told of."""
        if vector.storage_type != RELATIVE:
            return True
        path = vector_path(vector.storage_type, vector.path_or_inline, self._location)
        return path is not None and exists(path)

    def _refuse_encrypted(self, files: Sequence[ScanFile]) -> None:
        for file in files:
            if file.file.encryption_key is not None:
                raise Unsupported(
                    f"The file {file.path!r} of table '{self._table.table_name}' is encrypted, and"
                    " a Delta table cannot have encrypted files.",
                    remedy="Write the table to one that is not encrypted, and publish that.",
                )


def _partition_columns(metadata: Metadata, fields: Sequence[Field]) -> list[_Key]:
    """The columns by which a log says that the table is partitioned."""
    named = {folded(one.name): one for one in fields}
    found = [named[folded(name)] for name in metadata.partition_columns]
    return [(one.column_id, one.physical_name, one.type) for one in found]
