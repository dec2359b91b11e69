"""Positional delete files: the deleted rows of one data file.

Every row of a delete file holds the path of its data file (`file_path`) and the position of a
deleted row (`pos`), counted from 0, in ascending order. A data file has at most one delete file:
a new one replaces it and repeats the old positions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forklake.errors import Corruption, InvalidInput
from forklake.files.footers import decryption, encryption, footer_size_of, unreadable
from forklake.files.systems import in_parallel, make_folder, open_input, remove, translating, write

_FILE_PATH, _POSITION = "file_path", "pos"
_FIELD_ID = b"PARQUET:field_id"
_SCHEMA = pa.schema(
    [
        pa.field(
            _FILE_PATH,
            pa.dictionary(pa.int32(), pa.string()),
            metadata={_FIELD_ID: b"2147483646"},
        ),
        pa.field(_POSITION, pa.int64(), metadata={_FIELD_ID: b"2147483645"}),
    ]
)


@dataclass(frozen=True, slots=True)
class Deleted:
    """All deleted rows of one data file, including those deleted earlier."""

    data_path: str  # full path of the data file
    positions: Sequence[int] | Any  # or a numpy or pyarrow array
    key: bytes | None = None  # encrypts the delete file


@dataclass(frozen=True, slots=True)
class WrittenDeleteFile:
    """Path, size and row count of a delete file that was written."""

    path: str  # full path
    delete_count: int
    file_size_bytes: int
    footer_size: int


def write_delete_files(folder: str, deletes: Iterable[Deleted]) -> list[WrittenDeleteFile]:
    """Write a delete file for each data file, in order. On failure all of them are removed."""
    work = [(_new_path(folder), one) for one in deletes]
    make_folder(folder)
    try:
        return in_parallel(lambda item: _write_one(*item), work)
    except BaseException:
        remove(path for path, _ in work)
        raise


def read_positions(path: str, data_path: str, *, key: bytes | None = None) -> pa.Int64Array:
    """Return the positions in a delete file, sorted.

    Raises:
        Corruption: the file is damaged, or belongs to another data file.
    """
    with open_input(path) as file:
        with translating(path):
            size = file.size()
        try:
            table = pq.ParquetFile(file, decryption_properties=decryption(key)).read(
                columns=[_FILE_PATH, _POSITION]
            )
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(path, file, size, key, reason) from reason
    types = {field.name: field.type for field in table.schema}
    if types != {_FILE_PATH: pa.string(), _POSITION: pa.int64()}:
        raise _damaged(path, f"lacks a text column {_FILE_PATH} or a number column {_POSITION}")
    _require_same_file(path, data_path, table[_FILE_PATH])
    return _checked_positions(path, table[_POSITION])


def _new_path(folder: str) -> str:
    return f"{folder.rstrip('/')}/ducklake-{uuid.uuid4()}-delete.parquet"


def _write_one(path: str, deleted: Deleted) -> WrittenDeleteFile:
    positions = _sorted_unique(deleted)
    named = pa.DictionaryArray.from_arrays(
        pa.repeat(pa.scalar(0, pa.int32()), len(positions)), pa.array([deleted.data_path])
    )
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays([named, positions], schema=_SCHEMA),
        sink,
        compression="snappy",
        use_dictionary=[_FILE_PATH],
        column_encoding={_POSITION: "DELTA_BINARY_PACKED"},
        store_schema=False,
        encryption_properties=encryption(deleted.key),
    )
    data = sink.getvalue()
    write(path, data)
    footer_size = footer_size_of(data[-8:].to_pybytes())
    return WrittenDeleteFile(path, len(positions), data.size, footer_size)


def _sorted_unique(deleted: Deleted) -> pa.Int64Array:
    positions = pc.unique(pa.array(deleted.positions, pa.int64()))
    positions = positions.take(pc.sort_indices(positions))
    if not len(positions) or positions.null_count or positions[0].as_py() < 0:
        raise InvalidInput(
            f"The deleted positions of {deleted.data_path!r} are empty, or one of them is NULL or"
            " negative.",
            remedy="Write a delete file only for rows that exist.",
        )
    return positions


def _require_same_file(path: str, data_path: str, named: pa.ChunkedArray) -> None:
    # Only file names are compared: the lake may have been moved, and names are unique in it.
    for other in pc.unique(named).to_pylist():
        if other is None or basename(other) != basename(data_path):
            raise _damaged(path, f"belongs to {other!r}, not to {data_path!r}")


def _checked_positions(path: str, column: pa.ChunkedArray) -> pa.Int64Array:
    positions = column.combine_chunks()
    if positions.null_count or (len(positions) and pc.min(positions).as_py() < 0):
        raise _damaged(path, "contains NULL or negative positions")
    return positions.take(pc.sort_indices(positions))


def _damaged(path: str, fault: str) -> Corruption:
    return Corruption(
        f"The delete file {path!r} {fault}.",
        remedy="Restore the file or the metastore from a backup.",
        path=path,
    )
