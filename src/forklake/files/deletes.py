"""Positional delete files: which rows of one data file are gone.

A delete file names its data file in every row (`file_path`) and the position of a deleted row
(`pos`), counted from 0, in order. A data file has at most one: a new one holds the old positions
too.
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
    """The rows of one data file that are to be gone: all of them, those of before included."""

    data_path: str  # full path of the data file
    positions: Sequence[int] | Any  # or an array of numpy or pyarrow
    key: bytes | None = None  # to encrypt the delete file with


@dataclass(frozen=True, slots=True)
class WrittenDeleteFile:
    """A delete file as it was written."""

    path: str  # full path
    delete_count: int
    file_size_bytes: int
    footer_size: int


def write_delete_files(folder: str, deletes: Iterable[Deleted]) -> list[WrittenDeleteFile]:
    """A delete file in the folder for each data file, in order; on failure none is left."""
    work = [(_new_path(folder), one) for one in deletes]
    make_folder(folder)
    try:
        return in_parallel(lambda item: _write_one(*item), work)
    except BaseException:
        remove(path for path, _ in work)
        raise


def read_positions(path: str, data_path: str, *, key: bytes | None = None) -> pa.Int64Array:
    """The positions that a delete file holds, in order; Corruption if it is for another file."""
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
        raise _damaged(path, f"has no texts {_FILE_PATH} and numbers {_POSITION}")
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
            f"The deleted positions of {deleted.data_path!r} are none, or not all 0 or more.",
            remedy="Write a delete file only for rows that exist.",
        )
    return positions


def _require_same_file(path: str, data_path: str, named: pa.ChunkedArray) -> None:
    """By name alone: a lake may have been moved since, and names are unique in it."""
    for other in pc.unique(named).to_pylist():
        if other is None or basename(other) != basename(data_path):
            raise _damaged(path, f"belongs to {other!r}, not to {data_path!r}")


def _checked_positions(path: str, column: pa.ChunkedArray) -> pa.Int64Array:
    positions = column.combine_chunks()
    if positions.null_count or (len(positions) and pc.min(positions).as_py() < 0):
        raise _damaged(path, "holds positions that no row has")
    return positions.take(pc.sort_indices(positions))


def _damaged(path: str, fault: str) -> Corruption:
    return Corruption(
        f"The delete file {path!r} {fault}.",
        remedy="Restore the file or the metastore from a backup.",
        path=path,
    )
