"""Deletion vectors: which rows of one data file are gone, as Delta tables tell it.

A vector is a magic number and a 64-bit roaring bitmap of positions, counted from 0. It is kept in
the log itself, as text, or in a file that may hold many:

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

RELATIVE, INLINE, ABSOLUTE = "u", "i", "p"  # how the place of a vector is told
_VERSION = b"\1"
_START = len(_VERSION)  # of the first vector of a file
_MAGIC = (1681511377).to_bytes(4, "little")
_UUID_TEXT = 20  # characters of a uuid; what is in front of them is a folder
_WORD = 4  # bytes of a size or checksum in a file
_LAST_POSITION = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Vector:
    """Where a vector is, as the log says it."""

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
    """The positions of a vector, in order; Corruption if it is not what the log says of it."""
    vector = Vector(storage_type, path_or_inline, offset, size_in_bytes, cardinality)
    path = vector_path(storage_type, path_or_inline, table_location)
    data = _inline_data(vector) if path is None else _data_in_file(vector, path)
    place = "in the log" if path is None else f"in {path!r}"
    return _positions(data, cardinality, place)


def vector_path(storage_type: str, path_or_inline: str, table_location: str) -> str | None:
    """The file that holds a vector; None if the log does."""
    if storage_type == INLINE:
        return None
    if storage_type == ABSOLUTE:  # a URI, of which only local ones are decoded when opened
        is_local_uri = path_or_inline.lower().startswith("file:")
        return path_or_inline if is_local_uri else unquote(path_or_inline)
    if storage_type == RELATIVE:
        folder, name = path_or_inline[:-_UUID_TEXT], path_or_inline[-_UUID_TEXT:]
        inside = f"{folder}/" if folder else ""
        return f"{table_location.rstrip('/')}/{inside}deletion_vector_{_uuid(name)}.bin"
    raise Unsupported(
        f"A deletion vector is stored in an unknown way: {storage_type!r}.",
        remedy="Rewrite the table with a writer that stores vectors as u, i or p.",
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(bytes=z85.decode(text))
    except ValueError as reason:
        raise _damaged(
            "in the log", f"is said to be in a file without a name: {text!r}"
        ) from reason


def _inline_data(vector: Vector) -> bytes:
    try:
        data = z85.decode(vector.path_or_inline)
    except ValueError as reason:
        raise _damaged("in the log", "is not text in Z85") from reason
    if not 0 <= len(data) - vector.size_in_bytes < 4:  # zeros that fill up the text
        raise _damaged("in the log", f"has not its {vector.size_in_bytes} bytes")
    return data[: vector.size_in_bytes]


def _data_in_file(vector: Vector, path: str) -> bytes:
    start, size = _START if vector.offset is None else vector.offset, vector.size_in_bytes
    with open_input(path) as file, translating(path):
        is_whole = start >= _START and 0 <= size <= file.size() - start - 2 * _WORD
        version = file.read_at(_START, 0) if is_whole else b""
        found = file.read_at(_WORD + size + _WORD, start) if is_whole else b""
    place, data = f"in {path!r} at {start}", found[_WORD:-_WORD]
    if not is_whole:
        raise _damaged(place, f"is cut off: it has not its {size} bytes")
    if version != _VERSION:
        raise _damaged(place, f"is in a file of the unknown version {version[0]}")
    if int.from_bytes(found[:_WORD], "big") != size:
        raise _damaged(place, f"has not the size that the log says, {size} bytes")
    if int.from_bytes(found[-_WORD:], "big") != crc32(data):
        raise _damaged(place, "has another checksum than its bytes")
    return data


def _positions(data: bytes, cardinality: int, place: str) -> pa.Int64Array:
    if data[: len(_MAGIC)] != _MAGIC:
        raise _damaged(place, "has not the magic number of the format")
    try:
        bitmap = BitMap64.deserialize(data[len(_MAGIC) :])
    except (ValueError, IndexError) as reason:
        raise _damaged(place, f"is no bitmap: {reason}") from reason
    if len(bitmap) != cardinality:
        raise _damaged(place, f"has {len(bitmap)} positions, and the log says {cardinality}")
    if bitmap and bitmap.max() > _LAST_POSITION:
        raise _damaged(place, "has positions that no row has")
    values = pa.py_buffer(bitmap.to_array())
    return pa.Array.from_buffers(pa.int64(), len(bitmap), [None, values])


def _damaged(place: str, fault: str) -> Corruption:
    return Corruption(
        f"The deletion vector {place} {fault}.", remedy="Restore the table from a backup."
    )


# Writing


def write_vector(positions: Sequence[int] | Any) -> bytes:
    """The bytes of a file with one vector; positions may be an array of numpy or pyarrow."""
    data = _serialized(_bitmap(positions))
    return b"".join(
        (_VERSION, len(data).to_bytes(_WORD, "big"), data, crc32(data).to_bytes(_WORD, "big"))
    )


def vector_in_file(number: UUID, file: bytes) -> Vector:
    """How the log names the first vector of a file that is at the root of its table."""
    data = file[_START + _WORD : -_WORD]
    count = len(BitMap64.deserialize(data[len(_MAGIC) :]))
    return Vector(RELATIVE, z85.encode(number.bytes), _START, len(data), count)


def inline_vector(positions: Sequence[int] | Any) -> Vector:
    """A vector that the log itself holds."""
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
            "The positions of a deletion vector are not all 0 or more.",
            remedy="Name rows that exist.",
        )
    return BitMap64(array("Q", flat.tobytes()))
