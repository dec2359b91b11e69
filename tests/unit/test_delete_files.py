"""Delete files: writing, reading, and refusing wrong ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.errors import Corruption, Forbidden, InvalidInput, NotFound
from forklake.files.deletes import Deleted, read_positions, write_delete_files
from forklake.files.keys import new_key

DATA = "/lake/main/t/ducklake-1.parquet"


@settings(max_examples=30)
@given(positions=st.lists(st.integers(0, 2**40), min_size=1), is_encrypted=st.booleans())
def test_positions_are_read_sorted_and_unique(
    tmp_path_factory: pytest.TempPathFactory, positions: list[int], is_encrypted: bool
) -> None:
    folder = str(tmp_path_factory.mktemp("deletes"))
    key = new_key() if is_encrypted else None
    (written,) = write_delete_files(folder, [Deleted(DATA, positions, key)])
    assert written.delete_count == len(set(positions))
    assert read_positions(written.path, DATA, key=key).to_pylist() == sorted(set(positions))
    size = Path(written.path).stat().st_size
    assert written.file_size_bytes == size
    if key is None:
        assert written.footer_size == pq.read_metadata(written.path).serialized_size
    else:
        assert 0 < written.footer_size < size


def test_a_delete_file_has_the_standard_schema(tmp_path: Path) -> None:
    (written,) = write_delete_files(str(tmp_path), [Deleted(DATA, pa.array([5, 3]))])
    assert Path(written.path).name.startswith("ducklake-")
    assert written.path.endswith("-delete.parquet")
    rows = duckdb.sql(f"FROM '{written.path}'").fetchall()
    assert rows == [(DATA, 3), (DATA, 5)]
    schema = pq.read_schema(written.path)
    ids = {field.name: int(field.metadata[b"PARQUET:field_id"]) for field in schema}
    assert ids == {"file_path": 2147483646, "pos": 2147483645}
    assert schema.field("file_path").type == pa.string()
    assert all(field.nullable for field in schema)
    chunk = pq.read_metadata(written.path).row_group(0).column(1)
    assert chunk.compression == "SNAPPY"


def test_many_delete_files_are_written_for_many_data_files(tmp_path: Path) -> None:
    paths = [f"/lake/ducklake-{number}.parquet" for number in range(50)]
    written = write_delete_files(
        f"{tmp_path}/new folder", [Deleted(path, range(n + 1)) for n, path in enumerate(paths)]
    )
    assert len({one.path for one in written}) == 50
    for number, (path, one) in enumerate(zip(paths, written, strict=True)):
        assert read_positions(one.path, path).to_pylist() == list(range(number + 1))


def test_a_delete_file_of_another_data_file_is_refused(tmp_path: Path) -> None:
    (written,) = write_delete_files(str(tmp_path), [Deleted(DATA, [1])])
    assert len(read_positions(written.path, "s3://moved/to/ducklake-1.parquet")) == 1
    with pytest.raises(Corruption, match="belongs to") as error:
        read_positions(written.path, "/lake/main/t/ducklake-2.parquet")
    assert written.path in str(error.value)
    mixed = f"{tmp_path}/mixed.parquet"
    pq.write_table(pa.table({"file_path": [DATA, "/lake/other.parquet"], "pos": [1, 2]}), mixed)
    with pytest.raises(Corruption, match=r"other\.parquet"):
        read_positions(mixed, DATA)


def test_additional_and_reordered_columns_are_accepted(tmp_path: Path) -> None:
    path = f"{tmp_path}/d.parquet"
    pq.write_table(
        pa.table(
            {"pos": [9, 2], "_ducklake_internal_snapshot_id": [1, 1], "file_path": [DATA] * 2}
        ).replace_schema_metadata(None),
        path,
    )
    assert read_positions(path, DATA).to_pylist() == [2, 9]


def test_invalid_delete_files_are_corruption(tmp_path: Path) -> None:
    path = f"{tmp_path}/d.parquet"
    bad: list[dict[str, list[object]]] = [
        {"a": [1]},
        {"file_path": [DATA], "pos": [-1]},
        {"file_path": [DATA], "pos": [None]},
        {"file_path": [None], "pos": [1]},
        {"file_path": [DATA], "pos": ["one"]},
    ]
    for columns in bad:
        pq.write_table(pa.table(columns), path)
        with pytest.raises(Corruption) as error:
            read_positions(path, DATA)
        assert path in str(error.value)
    Path(path).write_bytes(b"PAR1 cut off")
    with pytest.raises(Corruption, match="truncated"):
        read_positions(path, DATA)
    with pytest.raises(NotFound):
        read_positions(f"{tmp_path}/none.parquet", DATA)


def test_an_encrypted_delete_file_needs_its_key(tmp_path: Path) -> None:
    (written,) = write_delete_files(str(tmp_path), [Deleted(DATA, [1], new_key())])
    for key in (None, new_key()):
        with pytest.raises(Forbidden, match="encrypted"):
            read_positions(written.path, DATA, key=key)


def test_positions_outside_of_the_data_file_leave_no_delete_file(tmp_path: Path) -> None:
    for bad in ([], [-1], [None]):
        with pytest.raises(InvalidInput):
            write_delete_files(str(tmp_path), [Deleted(DATA, [1]), Deleted(DATA, bad)])
    assert list(tmp_path.iterdir()) == []
