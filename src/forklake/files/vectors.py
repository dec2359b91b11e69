"""Deletion vectors: the deleted rows of one data file in the format of Delta tables.

A vector is a magic number and a 64-bit roaring bitmap of positions, counted from 0. It is stored
in the Delta log itself, as text, or in a file that may contain several:

| bytes         | what                                          |
|---------------|-----------------------------------------------|
| 0             | the version of the format: 1                  |
| offset, 4     | the size of the vector, big endian            |
| offset + 4, … | the vector: magic number, bitmap              |
| …, 4          | the CRC-32 of the vector, big endian          |
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote
from uuid import UUID
from zlib import crc32

import pyarrow as pa
from pyroaring import BitMap64

from forklake.errors import Corruption, InvalidInput, Unsupported
from forklake.files import z85
from forklake.files.systems import open_input, translating

RELATIVE, INLINE, ABSOLUTE = "u", "i", "p"  # storage types: where the bytes of a vector are
_VERSION = b"\1"
_START = len(_VERSION)  # offset of the first vector of a file
_MAGIC = (1681511377).to_bytes(4, "little")
_UUID_TEXT = 20  # characters of an encoded UUID; those before it name a folder
_WORD = 4  # bytes of a size or checksum in a file
_LAST_POSITION = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Vector:
    """Descriptor of a deletion vector, as a Delta log holds it."""

    storage_type: str
    path_or_inline: str
    offset: int | None
    size_in_bytes: int
    cardinality: int


# Reading


def read_vector(
    storage_type: str,
    path_or_inline: str,
    offset: int | None,
    size_in_bytes: int,
    cardinality: int,
    table_location: str,
) -> pa.Int64Array:
    """Return the positions in a vector, sorted.

    Raises:
        Corruption: the vector does not match its descriptor in the log.
    """
    vector = Vector(storage_type, path_or_inline, offset, size_in_bytes, cardinality)
    path = vector_path(storage_type, path_or_inline, table_location)
    data = _inline_data(vector) if path is None else _data_in_file(vector, path)
    place = "in the log" if path is None else f"in {path!r}"
    return _positions(data, cardinality, place)


def vector_path(storage_type: str, path_or_inline: str, table_location: str) -> str | None:
    """Return the path of the file that contains a vector; None if the log itself contains it."""
    if storage_type == INLINE:
        return None
    if storage_type == ABSOLUTE:  # a URI; opening decodes local ones only
        is_local_uri = path_or_inline.lower().startswith("file:")
        return path_or_inline if is_local_uri else unquote(path_or_inline)
    if storage_type == RELATIVE:
        folder, name = path_or_inline[:-_UUID_TEXT], path_or_inline[-_UUID_TEXT:]
        inside = f"{folder}/" if folder else ""
        return f"{table_location.rstrip('/')}/{inside}deletion_vector_{_uuid(name)}.bin"
    raise Unsupported(
        f"The storage type {storage_type!r} of a deletion vector is not supported.",
        remedy="Rewrite the table with a writer that stores vectors as u, i or p.",
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(bytes=z85.decode(text))
    except ValueError as reason:
        raise _damaged("in the log", f"refers to a file by an invalid UUID: {text!r}") from reason


def _inline_data(vector: Vector) -> bytes:
    try:
        data = z85.decode(vector.path_or_inline)
    except ValueError as reason:
        raise _damaged("in the log", "is not valid Z85 text") from reason
    if not 0 <= len(data) - vector.size_in_bytes < 4:  # padding with zeros
        raise _damaged("in the log", f"does not have its {vector.size_in_bytes} bytes")
    return data[: vector.size_in_bytes]


def _data_in_file(vector: Vector, path: str) -> bytes:
    start, size = _START if vector.offset is None else vector.offset, vector.size_in_bytes
    with open_input(path) as file, translating(path):
        is_whole = start >= _START and 0 <= size <= file.size() - start - 2 * _WORD
        version = file.read_at(_START, 0) if is_whole else b""
        found = file.read_at(_WORD + size + _WORD, start) if is_whole else b""
    place, data = f"in {path!r} at {start}", found[_WORD:-_WORD]
    if not is_whole:
        raise _damaged(place, f"is truncated: it does not have its {size} bytes")
    if version != _VERSION:
        raise _damaged(place, f"is in a file of the unknown version {version[0]}")
    if int.from_bytes(found[:_WORD], "big") != size:
        raise _damaged(place, f"does not have the size in the log, {size} bytes")
    if int.from_bytes(found[-_WORD:], "big") != crc32(data):
        raise _damaged(place, "does not match its checksum")
    return data


def _positions(data: bytes, cardinality: int, place: str) -> pa.Int64Array:
    if data[: len(_MAGIC)] != _MAGIC:
        raise _damaged(place, "does not begin with the magic number of the format")
    try:
        bitmap = BitMap64.deserialize(data[len(_MAGIC) :])
    except (ValueError, IndexError) as reason:
        raise _damaged(place, f"is not a roaring bitmap: {reason}") from reason
    if len(bitmap) != cardinality:
        raise _damaged(place, f"has {len(bitmap)} positions, but the log has {cardinality}")
    if bitmap and bitmap.max() > _LAST_POSITION:
        raise _damaged(place, "contains a position above 2^63 - 1")
    values = pa.py_buffer(bitmap.to_array())
    return pa.Array.from_buffers(pa.int64(), len(bitmap), [None, values])


def _damaged(place: str, fault: str) -> Corruption:
    return Corruption(
        f"The deletion vector {place} {fault}.", remedy="Restore the table from a backup."
    )


# Writing


def write_vector(positions: Sequence[int] | Any) -> bytes:
    """Encode a file with one vector; positions may be a numpy or pyarrow array."""
    data = _serialized(_bitmap(positions))
    return b"".join(
        (_VERSION, len(data).to_bytes(_WORD, "big"), data, crc32(data).to_bytes(_WORD, "big"))
    )


def vector_in_file(number: UUID, file: bytes) -> Vector:
    """Return the descriptor of the first vector in a file at the root of its table.

    Args:
        number: UUID in the name of the file.
        file: the content of the file.
    """
    data = file[_START + _WORD : -_WORD]
    count = len(BitMap64.deserialize(data[len(_MAGIC) :]))
    return Vector(RELATIVE, z85.encode(number.bytes), _START, len(data), count)


def inline_vector(positions: Sequence[int] | Any) -> Vector:
    """Encode positions as a vector that is stored in the log itself."""
    bitmap = _bitmap(positions)
    data = _serialized(bitmap)
    return Vector(INLINE, z85.encode(data), None, len(data), len(bitmap))


def _serialized(bitmap: BitMap64) -> bytes:
    bitmap.run_optimize()
    return _MAGIC + bytes(bitmap.serialize())


def _bitmap(positions: Sequence[int] | Any) -> BitMap64:
    values = pa.array(positions, pa.int64())
    flat = array("q")
    flat.frombytes(values.buffers()[1].slice(values.offset * 8, len(values) * 8))
    if values.null_count or (flat and min(flat) < 0):
        raise InvalidInput(
            "The positions of a deletion vector contain NULL or a negative number.",
            remedy="Use positions of rows that exist, counted from 0.",
        )
    return BitMap64(array("Q", flat.tobytes()))
