"""Conversion of file actions of a Delta log to data files and delete files of a lake table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.catalog.catalog import Catalog
from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Add, AnyAction, DeletionVector
from forklake.delta.schema import DeltaField
from forklake.delta.statistics import parse_statistics
from forklake.delta.table_shape import TableShape
from forklake.delta.values import lake_value
from forklake.errors import Corruption, NotFound, Unavailable
from forklake.files.deletes import Deleted, write_delete_files
from forklake.files.systems import in_parallel, open_input
from forklake.files.vectors import read_vector, vector_path
from forklake.model.entities import DeleteFile, Table
from forklake.model.fields import Field
from forklake.model.files import UNREAD_VECTOR, ColumnBounds, NewDataFile, NewDeleteFile
from forklake.model.ids import DataFileId, DeleteFileId

Number = TypeVar("Number", bound=int)
File = TypeVar("File")
_as_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def format_body(action: AnyAction) -> str:
    """Return the body of an action as JSON text."""
    ((_, body),) = action.to_json().items()
    return _as_text(body)


class StagedFile(NamedTuple, Generic[Number, File]):
    """A file that a transaction adds, with its local id in the transaction."""

    number: Number
    file: File


class NewFiles:
    """Writer of the files of one version into a transaction."""

    def __init__(
        self, transaction: Transaction, catalog: Catalog, table: Table, shape: TableShape
    ) -> None:
        self._transaction = transaction
        self._catalog = catalog
        self._table = table
        self._shape = shape

    def add_data_files(
        self, adds: Mapping[str, Add]
    ) -> dict[str, StagedFile[DataFileId, NewDataFile]]:
        """Add data files, given by full path. Missing row counts are read from the footers."""
        leaves = self._shape.leaves
        statistics = {path: parse_statistics(add.stats, leaves) for path, add in adds.items()}
        uncounted = [path for path, (rows, _) in statistics.items() if rows is None]
        counted = dict(zip(uncounted, in_parallel(_read_row_count, uncounted), strict=True))
        new = [
            self._new_data_file(
                path, add, counted.get(path, statistics[path][0]) or 0, statistics[path][1]
            )
            for path, add in adds.items()
        ]
        numbers = self._transaction.add_data_files(self._table, new)
        return dict(zip(adds, map(StagedFile, numbers, new), strict=True))

    def add_delete_files(
        self,
        adds: Mapping[str, tuple[DataFileId, Add]],
        location: str,
        replaced: Sequence[DeleteFile],
    ) -> dict[str, StagedFile[DeleteFileId, NewDeleteFile]]:
        """Add delete files for the deletion vectors of data files; they replace `replaced`."""
        vectors = {path: item for path, item in adds.items() if item[1].deletion_vector}
        if not vectors:
            return {}
        new = in_parallel(
            lambda item: self._new_delete_file(item[0], *item[1], location), vectors.items()
        )
        numbers = self._transaction.add_delete_files(self._table, new, deletes=replaced)
        return dict(zip(vectors, map(StagedFile, numbers, new), strict=True))

    def _new_data_file(
        self, path: str, add: Add, count: int, bounds: Iterable[ColumnBounds]
    ) -> NewDataFile:
        values = parse_partition_values(self._shape.keys, add)
        constants = [
            _constant_bounds(key, value, count)
            for key, value in zip(self._shape.keys, values, strict=True)
        ]
        constant_ids = {one.column_id for one in constants}
        return NewDataFile(
            path=path,
            path_is_relative=False,
            record_count=count,
            file_size_bytes=add.size,
            bounds=(*(one for one in bounds if one.column_id not in constant_ids), *constants),
            partition_id=self._shape.partition_id,
            partition_values=values,
            mapping_id=self._shape.mapping_id,
            action=format_body(add),
        )

    def _new_delete_file(
        self, path: str, number: DataFileId, add: Add, location: str
    ) -> NewDeleteFile:
        vector = add.deletion_vector
        assert vector is not None
        new = NewDeleteFile(number, "", vector.cardinality, 0, action=format_body(add))
        try:
            positions = read_deleted_positions(vector, location)
        except (NotFound, Unavailable, Corruption):
            missing = vector_file_path(vector, location) or ""
            return replace(new, path=missing, path_is_relative=False, format=UNREAD_VECTOR)
        state = self._transaction.state
        folder = self._catalog.table_folder(state, self._table)
        (written,) = write_delete_files(
            self._catalog.data_path() + folder, [Deleted(path, positions)]
        )
        return replace(
            new,
            path=written.path.removeprefix(self._catalog.data_path()),
            file_size_bytes=written.file_size_bytes,
            footer_size=written.footer_size,
        )


def vector_file_path(vector: DeletionVector, location: str) -> str | None:
    """Return the path of the file that holds a deletion vector; None for an inline vector."""
    return vector_path(vector.storage_type, vector.path_or_inline, location)


def read_deleted_positions(vector: DeletionVector, location: str) -> pa.Int64Array:
    """Return the positions of deleted rows."""
    return read_vector(
        vector.storage_type,
        vector.path_or_inline,
        vector.offset,
        vector.size_in_bytes,
        vector.cardinality,
        location,
    )


def parse_partition_values(keys: Iterable[Field | DeltaField], add: Add) -> tuple[str | None, ...]:
    """Return the partition values of a file, in the form of the lake."""
    return tuple(_parse_partition_value(key, add) for key in keys)


def _parse_partition_value(key: Field | DeltaField, add: Add) -> str | None:
    if key.physical_name not in add.partition_values:
        raise Corruption(
            f"The Delta log has no value of the partition column '{key.name}' for the file"
            f" {add.path!r}.",
            remedy="Restore the log from a backup.",
        )
    return lake_value(key.type, add.partition_values[key.physical_name])


def _constant_bounds(key: Field, text: str | None, rows: int) -> ColumnBounds:
    """Return the statistics of a column with the same value in all rows of a file."""
    is_nan = None if text is None else text.lower() == "nan"
    return ColumnBounds.of_constant(key.column_id, text, rows, contains_nan=is_nan)


def _read_row_count(path: str) -> int:
    """Return the row count of the footer of a file; 0 if the file is missing."""
    try:
        with open_input(path) as opened:
            return int(pq.ParquetFile(opened).metadata.num_rows)
    except NotFound:
        return 0
