"""Deletion vectors: round trips, and named errors for damaged ones."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from uuid import UUID
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.errors import Corruption, ForklakeError, InvalidInput, NotFound, Unsupported
from forklake.files import z85
from forklake.files.vectors import (
    Vector,
    inline_vector,
    read_vector,
    vector_in_file,
    vector_path,
    write_vector,
)
from tests.delta.corpus_logs import commit_actions, corpus_tables, needs_corpus

NUMBER = UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
positions = st.lists(
    st.one_of(st.integers(0, 200), st.integers(0, 2**63 - 1)), max_size=40
) | st.integers(0, 2**34).flatmap(
    lambda low: st.integers(0, 200_000).map(lambda count: list(range(low, low + count, 3)))
)


def read(vector: Vector, location: str = "") -> list[int]:
    found = read_vector(
        vector.storage_type,
        vector.path_or_inline,
        vector.offset,
        vector.size_in_bytes,
        vector.cardinality,
        location,
    )
    assert found.type == pa.int64()
    return [int(one) for one in found.to_numpy()]


def put(folder: Path, data: bytes, number: UUID = NUMBER) -> Vector:
    vector = vector_in_file(number, data)
    path = vector_path(vector.storage_type, vector.path_or_inline, str(folder))
    assert path == f"{folder}/deletion_vector_{number}.bin"
    Path(path).write_bytes(data)
    return vector


# Z85


@given(data=st.binary())
def test_bytes_round_trip_through_z85_with_zero_padding(data: bytes) -> None:
    text = z85.encode(data)
    assert z85.decode(text) == data + bytes(-len(data) % 4)
    assert len(text) == -(-len(data) // 4) * 5


def test_z85_uses_the_zeromq_alphabet() -> None:
    assert z85.encode(bytes.fromhex("864fd26fb559f75b")) == "HelloWorld"


@pytest.mark.parametrize("text", ["1234", "123~5", "é1234", "#####", "12 45", "123_5"])
def test_invalid_z85_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        z85.decode(text)


# Vectors


@given(rows=positions)
def test_inline_positions_round_trip(rows: list[int]) -> None:
    vector = inline_vector(rows)
    assert vector.cardinality == len(set(rows))
    assert read(vector) == sorted(set(rows))


def test_positions_in_a_file_round_trip(tmp_path: Path) -> None:
    for rows in ([0], [5, 3, 5, 2**40], range(0, 100_000, 2), pa.array([9, 1, 7])[1:]):
        vector = put(tmp_path, write_vector(rows))
        assert vector.offset == 1
        assert read(vector, f"{tmp_path}/") == sorted({int(one) for one in np.array(rows)})


def test_an_inline_vector_of_another_writer_is_read() -> None:
    text = "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
    assert read(Vector("i", text, None, 44, 6)) == [3, 4, 7, 11, 18, 29]


def test_many_vectors_share_a_file_in_a_folder(tmp_path: Path) -> None:
    first, second = write_vector([1, 2]), write_vector([70_000])
    folder = tmp_path / "ab"
    folder.mkdir()
    path = folder / f"deletion_vector_{NUMBER}.bin"
    path.write_bytes(first + second[1:])
    size = vector_in_file(NUMBER, second).size_in_bytes
    name = f"ab{z85.encode(NUMBER.bytes)}"
    assert read(Vector("u", name, len(first), size, 1), str(tmp_path)) == [70_000]
    absolute = Vector("p", f"file://{path}", len(first), size, 1)
    assert read(absolute, "/elsewhere") == [70_000]


def test_an_absolute_path_is_a_uri() -> None:
    assert vector_path("p", "s3://bucket/a%20b/v.bin", "/t") == "s3://bucket/a b/v.bin"
    assert vector_path("p", "/a%20b/v.bin", "/t") == "/a b/v.bin"
    assert vector_path("p", "file:///a%20b/v.bin", "/t") == "file:///a%20b/v.bin"


def test_a_missing_vector_is_named(tmp_path: Path) -> None:
    vector = vector_in_file(NUMBER, write_vector([1]))
    with pytest.raises(NotFound, match=f"deletion_vector_{NUMBER}"):
        read(vector, str(tmp_path))


def resealed(data: bytes, change: Callable[[bytearray], None]) -> bytes:
    """Return the file with a changed vector of the same size, and with its checksum."""
    inside = bytearray(data[5:-4])
    change(inside)
    return data[:5] + bytes(inside) + struct.pack(">I", crc32(inside))


def other_magic(inside: bytearray) -> None:
    inside[0] ^= 1


def other_bitmap(inside: bytearray) -> None:
    inside[16:20] = b"\xff" * 4


WHOLE = write_vector([1, 5, 70_000])
DAMAGED = {
    "version": (b"\2" + WHOLE[1:], "unknown version 2"),
    "size": (WHOLE[:4] + b"\0" + WHOLE[5:], "not have the size"),
    "checksum": (WHOLE[:-1] + b"\0", "checksum"),
    "byte": (WHOLE[:20] + b"\x7f" + WHOLE[21:], "checksum"),
    "cut": (WHOLE[:-1], "truncated"),
    "empty": (b"", "truncated"),
    "magic": (resealed(WHOLE, other_magic), "magic"),
    "bitmap": (resealed(WHOLE, other_bitmap), "not a roaring bitmap"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_named(tmp_path: Path, case: str) -> None:
    data, fault = DAMAGED[case]
    vector = put(tmp_path, WHOLE)
    (tmp_path / f"deletion_vector_{NUMBER}.bin").write_bytes(data)
    with pytest.raises(Corruption, match=f"deletion_vector_{NUMBER}.*{fault}"):
        read(vector, str(tmp_path))


INLINE = inline_vector([1, 5, 2**63 - 1])
TEXT, SIZE = INLINE.path_or_inline, INLINE.size_in_bytes
BAD: dict[str, tuple[Vector, type[ForklakeError], str]] = {
    "count": (Vector("i", TEXT, None, SIZE, 2), Corruption, "3 positions, but the log has 2"),
    "size": (Vector("i", TEXT, None, 7, 3), Corruption, "7 bytes"),
    "negative": (Vector("i", TEXT, None, -1, 3), Corruption, "-1 bytes"),
    "text": (Vector("i", "~" * 5, None, 4, 1), Corruption, "Z85"),
    "name": (Vector("u", "short", 1, 4, 1), Corruption, "'short'"),
    "kind": (Vector("x", TEXT, 1, 4, 1), Unsupported, "'x'"),
}


@pytest.mark.parametrize("case", BAD)
def test_vectors_must_match_their_description_in_the_log(case: str) -> None:
    vector, error, fault = BAD[case]
    with pytest.raises(error, match=fault):
        read(vector, "/t")


def test_an_offset_outside_of_the_file_is_refused(tmp_path: Path) -> None:
    vector = put(tmp_path, WHOLE)
    for offset in (-1, 0, 2, 10**6):
        with pytest.raises(Corruption):
            read(Vector("u", vector.path_or_inline, offset, vector.size_in_bytes, 3), str(tmp_path))


@pytest.mark.parametrize("rows", [[-1], [None]])
def test_positions_outside_of_the_file_are_refused(rows: list[int]) -> None:
    with pytest.raises(InvalidInput):
        write_vector(rows)


@needs_corpus
def test_vectors_of_other_writers_have_the_cardinality_in_their_logs() -> None:
    count = 0
    for table in corpus_tables("ok"):
        for kind, body in commit_actions(table):
            stated = body.get("deletionVector") if kind in {"add", "remove"} else None
            if stated:
                place = (stated["storageType"], stated["pathOrInlineDv"], stated.get("offset"))
                vector = Vector(*place, stated["sizeInBytes"], stated["cardinality"])
                assert len(read(vector, str(table))) == stated["cardinality"]
                count += 1
    assert count > 20
