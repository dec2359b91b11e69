"""Iceberg position delete files.

They are written even where the lake has a delete file: Iceberg requires other field ids for the
columns, and the exact path of the data file that is in the manifest.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.errors import Unsupported
from forklake.files.conditional_put import put_if_absent
from forklake.files.deletes import read_positions
from forklake.files.systems import exists, size
from forklake.model.scans import ScanFile

PATH_FIELD, POSITION_FIELD = 2147483546, 2147483545  # field ids of the Iceberg specification


@dataclass(frozen=True, slots=True)
class PositionDeletes:
    """A file that lists the deleted rows of one data file."""

    path: str
    record_count: int
    file_size: int


def delete_file_stem(file: ScanFile) -> str:
    """Return a file name for the deletes of a data file, unique for these deletes."""
    lake = int(file.delete_file.delete_file_id) if file.delete_file is not None else ""
    positions = ",".join(map(str, file.deleted_positions))
    digest = hashlib.sha256(f"{file.path} {lake} {positions}".encode()).hexdigest()[:16]
    return f"{int(file.file.data_file_id)}-{digest}"


def write_deletes(folder: str, file: ScanFile, data_path: str) -> PositionDeletes:
    """Write the deletes of a data file to a folder, unless the file exists there."""
    path = f"{folder}/{delete_file_stem(file)}-deletes.parquet"
    if not exists(path):
        put_if_absent(path, _encode(data_path, _read_positions(file)))
    return PositionDeletes(path, file.deleted_rows, size(path))


def _read_positions(file: ScanFile) -> pa.Int64Array:
    found = [pa.array(file.deleted_positions, pa.int64())]
    if file.delete_file is not None and file.delete_path is not None:
        if file.delete_file.format != "parquet":
            raise Unsupported(
                f"The deleted rows of {file.path!r} are unknown: its deletion vector could not be"
                " read.",
                remedy="Restore the deletion vector, and import the Delta table again.",
            )
        found.append(pa.array(read_positions(file.delete_path, file.path), pa.int64()))
    positions = pa.concat_arrays(found)
    return positions.unique().sort()


def _encode(data_path: str, positions: pa.Int64Array) -> bytes:
    fields = [
        pa.field("file_path", pa.string(), nullable=False, metadata=_field_id_metadata(PATH_FIELD)),
        pa.field("pos", pa.int64(), nullable=False, metadata=_field_id_metadata(POSITION_FIELD)),
    ]
    paths = pa.repeat(pa.scalar(data_path), len(positions))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table([paths, positions], schema=pa.schema(fields)), sink)
    return bytes(sink.getvalue())


def _field_id_metadata(field_id: int) -> dict[bytes, bytes]:
    return {b"PARQUET:field_id": str(field_id).encode()}
