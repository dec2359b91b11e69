"""Writing DataFrames as files of a table: rows, types, statistics, options, and failures."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from forklake import Session, connect
from forklake.engines.arrow_types import arrow_schema
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.types import logical_schema
from forklake.engines.spark.writing import write as writing
from forklake.engines.spark.writing.write import append
from forklake.errors import AlreadyExists, Conflict, InvalidInput, NotFound, Unsupported
from forklake.files.footers import decryption
from forklake.files.keys import unwrap
from forklake.model.entities import DataFile, Table
from forklake.model.files import ROW_ID
from forklake.model.types import ColumnSpec, list_of, map_of, struct_of
from forklake.session.write import create_table_as, write

LAKE = "lake"


def frame(lake: Session, sql: str) -> DataFrame:
    """Return the DataFrame of a Spark SQL query."""
    return lake.engine.spark.sql(sql)


def found(lake: Session, name: str = "t") -> Table:
    """Return a table by name."""
    return lake.viewing(lake.attachment(LAKE)).state.table(name)


def files(lake: Session, name: str = "t") -> list[DataFile]:
    """Return the data files of a table."""
    return lake.viewing(lake.attachment(LAKE)).data_files(found(lake, name))


def paths(lake: Session, name: str = "t") -> list[str]:
    """Return the full paths of the data files of a table."""
    return [lake.attachment(LAKE).located(file.path) for file in files(lake, name)]


def rows(lake: Session, name: str = "t") -> list[dict[str, Any]]:
    """Return all rows in the files of a table."""
    return [row for path in paths(lake, name) for row in pq.ParquetFile(path).read().to_pylist()]


def inlined(lake: Session, name: str = "t") -> list[list[Any]]:
    """Return all inlined rows of a table."""
    view = lake.viewing(lake.attachment(LAKE))
    return [list(row.values.values()) for row in view.inlined_rows(found(lake, name))]


def on_disk(tmp_path: Path) -> list[Path]:
    """Return all files below the data path."""
    return [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def snapshot(lake: Session) -> int:
    """Return the newest snapshot of the catalog."""
    return lake.attachment(LAKE).catalog.current_snapshot()


# Types


def moment(*parts: int) -> datetime:
    """Return a timestamp without time zone."""
    return datetime(*parts, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[misc, arg-type]


COLUMNS = [
    ColumnSpec("b", "boolean"),
    ColumnSpec("i8", "int8"),
    ColumnSpec("i16", "int16"),
    ColumnSpec("i32", "int32"),
    ColumnSpec("i64", "int64"),
    ColumnSpec("i128", "int128"),
    ColumnSpec("u8", "uint8"),
    ColumnSpec("u16", "uint16"),
    ColumnSpec("u32", "uint32"),
    ColumnSpec("u64", "uint64"),
    ColumnSpec("f32", "float32"),
    ColumnSpec("f64", "float64"),
    ColumnSpec("dec", "decimal(18,3)"),
    ColumnSpec("txt", "varchar"),
    ColumnSpec("js", "json"),
    ColumnSpec("id", "uuid"),
    ColumnSpec("bin", "blob"),
    ColumnSpec("d", "date"),
    ColumnSpec("ts", "timestamp"),
    ColumnSpec("ts_s", "timestamp_s"),
    ColumnSpec("ts_ms", "timestamp_ms"),
    ColumnSpec("tz", "timestamptz"),
    ColumnSpec("tm", "time"),
    ColumnSpec("st", struct_of([("x", "int32"), ("y", list_of("varchar"))])),
    ColumnSpec("li", list_of(struct_of([("z", "float64")]))),
    ColumnSpec("ma", map_of("varchar", list_of("int64"))),
]
FIRST = {
    "b": False,
    "i8": -(2**7),
    "i16": -(2**15),
    "i32": -(2**31),
    "i64": -(2**63),
    "i128": Decimal(-(10**38) + 1),
    "u8": 0,
    "u16": 0,
    "u32": 0,
    "u64": Decimal(0),
    "f32": float("-inf"),
    "f64": -1.7976931348623157e308,
    "dec": Decimal("-999999999999999.999"),
    "txt": "",
    "js": '{"a": 1}',
    "id": "00000000-0000-0000-0000-000000000000",
    "bin": b"",
    "d": date(1, 1, 1),
    "ts": moment(1, 1, 1),
    "ts_s": moment(1969, 12, 31, 23, 59, 59),
    "ts_ms": moment(1969, 12, 31, 23, 59, 59, 999000),
    "tz": datetime(1, 1, 1, tzinfo=UTC),
    "tm": time(0),
    "st": {"x": 1, "y": ["a", None]},
    "li": [],
    "ma": [("k", [1, None])],
}
LAST = {
    "b": True,
    "i8": 2**7 - 1,
    "i16": 2**15 - 1,
    "i32": 2**31 - 1,
    "i64": 2**63 - 1,
    "i128": Decimal(10**38 - 1),
    "u8": 2**8 - 1,
    "u16": 2**16 - 1,
    "u32": 2**32 - 1,
    "u64": Decimal(2**64 - 1),
    "f32": 3.4028234663852886e38,
    "f64": 1.7976931348623157e308,
    "dec": Decimal("999999999999999.999"),
    "txt": "Zürich 東京 🦆",
    "js": "[null]",
    "id": "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "bin": b"\x00\xff",
    "d": date(9999, 12, 31),
    "ts": moment(9999, 12, 31, 23, 59, 59, 999999),
    "ts_s": moment(9999, 12, 31, 23, 59, 59),
    "ts_ms": moment(9999, 12, 31, 23, 59, 59, 999000),
    "tz": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "tm": time(23, 59, 59, 999999),
    "st": {"x": None, "y": None},
    "li": [{"z": 1.5}, None, {"z": None}],
    "ma": [],
}
NOTHING: dict[str, Any] = dict.fromkeys(FIRST)


def test_every_type_round_trips_through_files_with_ids_and_statistics(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    fields = lake.viewing(lake.attachment(LAKE)).state.fields(found(lake))
    given = pa.Table.from_pylist([FIRST, NOTHING, LAST], arrow_schema(fields))
    df = lake.engine.spark.createDataFrame(given, schema=logical_schema(fields))
    assert write(lake, df, "t") == 3
    (path,) = paths(lake)
    read = pq.ParquetFile(path).read()
    assert sorted(read.to_pylist(), key=str) == sorted([FIRST, NOTHING, LAST], key=str)
    _expect_ids(read.schema, fields)
    _expect_duckdb_reads(path)
    _expect_statistics(lake, fields)


def _expect_ids(schema: pa.Schema, fields: Sequence[Any]) -> None:
    def ids(field: pa.Field) -> list[str]:
        inner = [field.type.field(at) for at in range(field.type.num_fields)]
        if pa.types.is_map(field.type):
            inner = [field.type.key_field, field.type.item_field]
        own = (field.metadata or {}).get(b"PARQUET:field_id", b"none").decode()
        return [own, *(one for part in inner for one in ids(part))]

    def column_ids(field: Any) -> list[str]:
        return [str(int(field.column_id)), *(i for part in field.fields for i in column_ids(part))]

    assert [ids(field) for field in schema] == [column_ids(field) for field in fields]


def _expect_duckdb_reads(path: str) -> None:
    names = [name for name in FIRST if name not in {"tz", "d", "ts"}]
    text = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    seen = duckdb.sql(
        f"SELECT {text} FROM read_parquet('{path}') ORDER BY i8 NULLS FIRST"
    ).fetchall()
    assert seen[0] == (None,) * len(names)
    shown = dict(zip(names, seen[2], strict=True))
    assert shown["u64"] == str(2**64 - 1)
    assert shown["ts_ms"] == "9999-12-31 23:59:59.999"
    assert shown["tm"] == "23:59:59.999999"
    assert shown["txt"] == LAST["txt"]
    assert shown["li"] == "[{'z': 1.5}, NULL, {'z': NULL}]"


def _expect_statistics(lake: Session, fields: Sequence[Any]) -> None:
    view = lake.attachment(LAKE).catalog.now()
    table = found(lake)
    ids = [file.data_file_id for file in view.data_files(table)]
    reported = {one.column_id: one for one in view.file_statistics(table, ids)}
    by_name = {field.name: reported.get(field.column_id) for field in fields}
    for name, low, high in (
        ("b", "false", "true"),
        ("i8", "-128", "127"),
        ("i64", str(-(2**63)), str(2**63 - 1)),
        ("u64", "0", str(2**64 - 1)),
        ("dec", "-999999999999999.999", "999999999999999.999"),
        ("txt", "", LAST["txt"]),
        ("d", "0001-01-01", "9999-12-31"),
        ("ts", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
        ("tz", "0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00"),
        ("tm", "00:00:00", "23:59:59.999999"),
    ):
        one = by_name[name]
        assert one is not None, name
        assert (one.min_value, one.max_value) == (low, high), name
        assert (one.null_count, one.value_count) == (1, 3), name
    assert view.statistics(table).record_count == 3


def test_bounds_of_many_files_equal_those_of_all_rows(lake: Session) -> None:
    lake.create_table(
        "t", [ColumnSpec("n", "int64"), ColumnSpec("f", "float64"), ColumnSpec("s", "varchar")]
    )
    lake.set_option(LAKE, "target_file_size", "1KB", table="t")
    source = (
        "SELECT id * 7919 % 10007 AS n, if(id % 500 = 3, double('nan'), id / 3) AS f,"
        " if(id % 10 = 0, NULL, concat('k', id % 97)) AS s FROM range(2000)"
    )
    assert write(lake, frame(lake, source), "t") == 2000
    assert write(lake, frame(lake, source), "t") == 2000
    view, table = lake.attachment(LAKE).catalog.now(), found(lake)
    listed = view.data_files(table)
    assert len(listed) > 10
    for file in listed:
        path = lake.attachment(LAKE).located(file.path)
        held = pq.ParquetFile(path).read()
        reported = {one.column_id: one for one in view.file_statistics(table, [file.data_file_id])}
        numbers = [value for value in held.column("n").to_pylist() if value is not None]
        texts = [value for value in held.column("s").to_pylist() if value is not None]
        floats = held.column("f").to_pylist()
        n, f, s = (reported[field.column_id] for field in view.state.fields(table))
        assert (n.min_value, n.max_value) == (str(min(numbers)), str(max(numbers)))
        assert (s.min_value, s.max_value) == (min(texts), max(texts))
        assert s.null_count == held.num_rows - len(texts)
        assert f.contains_nan == any(value != value for value in floats)
        assert file.record_count == held.num_rows
        assert file.file_size_bytes == Path(path).stat().st_size


# Bad input


def test_bad_rows_leave_neither_snapshot_nor_file(lake: Session, tmp_path: Path) -> None:
    lake.create_table(
        "t", [ColumnSpec("a", "int8"), ColumnSpec("b", "varchar", nulls_allowed=False)]
    )
    before = snapshot(lake)
    many = "FROM range(0, 4000, 1, 4)"
    for sql, by_name, message in (
        (
            f"SELECT id % 100, if(id = 3999, NULL, 'x') {many}",
            False,
            "NOT NULL constraint failed: t.b",
        ),
        (f"SELECT id - 3872, 'x' {many}", False, "'t.a' of type int8 cannot hold"),
        (
            f"SELECT if(id = 3999, 'no', '1'), 'x' {many}",
            False,
            "'t.a' of type int8 cannot hold 'no'",
        ),
        (f"SELECT 1 / (id - 3999), 'x' {many}", False, "Division by zero"),
        ("SELECT 1 AS a", True, "NOT NULL constraint failed: t.b"),
        ("SELECT 1", False, "has 2 columns but 1 were supplied"),
        ("SELECT 1 AS a, 'x' AS b, 2 AS c", True, "has no column 'c'"),
        ("SELECT date'2024-01-01', 'x'", False, "cannot take values of type date"),
    ):
        with pytest.raises(InvalidInput) as caught:
            write(lake, frame(lake, sql), "t", by_name=by_name)
        assert message in caught.value.message
    assert snapshot(lake) == before
    assert on_disk(tmp_path) == []


def test_an_empty_write_creates_no_file_and_no_snapshot(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    before = snapshot(lake)
    assert write(lake, frame(lake, "SELECT id FROM range(10) WHERE id < 0"), "t") == 0
    assert write(lake, frame(lake, "SELECT id FROM range(10) WHERE rand() > 2"), "t") == 0
    assert snapshot(lake) == before
    assert on_disk(tmp_path) == []


# Options


def test_options_reach_the_files(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64"), ColumnSpec("b", "varchar")])
    source = "SELECT id, concat('text ', id) FROM range(0, 50000, 1, 1)"
    for option, value in (
        ("parquet_compression", "zstd"),
        ("parquet_compression_level", 19),
        ("parquet_row_group_size", 20000),
        ("parquet_version", 1),
    ):
        lake.set_option(LAKE, option, value, table="t")
    write(lake, frame(lake, source), "t")
    (first,) = paths(lake)
    metadata = pq.read_metadata(first)
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)] == [
        20000,
        20000,
        10000,
    ]
    assert "DELTA_BINARY_PACKED" not in metadata.row_group(0).column(0).encodings
    lake.set_option(LAKE, "parquet_compression", "lz4", table="t")
    lake.set_option(LAKE, "parquet_version", 2, table="t")
    write(lake, frame(lake, source), "t")
    second = next(path for path in paths(lake) if path != first)
    metadata = pq.read_metadata(second)
    assert metadata.row_group(0).column(0).compression == "LZ4"
    assert "DELTA_BINARY_PACKED" in metadata.row_group(0).column(0).encodings
    assert pq.ParquetFile(second).read().num_rows == 50000
    lake.set_option(LAKE, "parquet_compression", "brotli", table="t")
    with pytest.raises(Unsupported, match="brotli"):
        write(lake, frame(lake, source), "t")
    lake.set_option(LAKE, "parquet_compression", "gzip", table="t")
    with pytest.raises(InvalidInput, match="gzip has no level 19"):
        write(lake, frame(lake, source), "t")


def test_the_number_of_files_follows_the_target_size(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    eight = "SELECT xxhash64(id) AS a FROM range(0, 80000, 1, 8)"
    write(lake, frame(lake, eight), "t")
    assert len(files(lake)) == 1  # small rows of many tasks are joined
    lake.set_option(LAKE, "per_thread_output", True, table="t")
    write(lake, frame(lake, eight), "t")
    assert len(files(lake)) == 9
    lake.set_option(LAKE, "per_thread_output", False, table="t")
    lake.set_option(LAKE, "target_file_size", "100KB", table="t")
    write(lake, frame(lake, eight), "t")
    sizes = [file.file_size_bytes for file in files(lake)[9:]]
    assert 3 <= len(sizes) <= 8
    assert max(sizes) < 200_000


def test_a_small_target_does_not_multiply_files_from_write_to_write(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64"), ColumnSpec("s", "varchar")])
    lake.set_option(LAKE, "target_file_size", "1KB", table="t")
    source = frame(lake, "SELECT id AS a, concat('k', id % 97) AS s FROM range(0, 2000, 1, 50)")
    counts = []
    for _ in range(5):
        before = len(files(lake))
        write(lake, source, "t")
        counts.append(len(files(lake)) - before)
    assert counts[0] <= 25
    assert counts[1:] == sorted(counts[1:], reverse=True)
    assert counts[-1] <= 10


def test_small_existing_files_do_not_shrink_those_of_a_large_write(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    for number in range(4):
        write(lake, frame(lake, f"SELECT {number}L AS a"), "t")
    lake.set_option(LAKE, "target_file_size", "1MB", table="t")
    write(lake, frame(lake, "SELECT id * 7919 AS a FROM range(0, 100000, 1, 2)"), "t")
    assert len(files(lake)) - 4 <= 2


# Modes


def test_write_modes_append_overwrite_and_replace(lake: Session) -> None:
    one, two = frame(lake, "SELECT 1 AS a, 'x' AS b"), frame(lake, "SELECT 2 AS a, 'y' AS b")
    with pytest.raises(NotFound, match="does not exist"):
        write(lake, one, "t")
    assert write(lake, one, "t", mode="error") == 1
    with pytest.raises(AlreadyExists, match="already exists"):
        write(lake, two, "t", mode="error")
    assert write(lake, frame(lake, "SELECT NULL, NULL"), "t") == 1
    before = snapshot(lake)
    assert write(lake, two, "t", mode="ignore") == 0
    assert snapshot(lake) == before
    assert write(lake, two, "t", mode="overwrite") == 1
    assert rows(lake) == [{"a": 2, "b": "y"}]
    assert snapshot(lake) == before + 1
    # The schema stays when the rows are overwritten, and changes when the table is replaced.
    with pytest.raises(InvalidInput, match="has 2 columns but 1"):
        write(lake, frame(lake, "SELECT 3 AS c"), "t", mode="overwrite")
    assert rows(lake) == [{"a": 2, "b": "y"}]
    write(lake, frame(lake, "SELECT 3 AS c"), "t", mode="overwrite", replace_schema=True)
    assert rows(lake) == [{"c": 3}]
    assert write(lake, one, "u", mode="ignore") == 1
    assert write(lake, one, "v", mode="overwrite") == 1
    assert create_table_as(lake, "t", one, if_not_exists=True) == 0
    assert create_table_as(lake, "t", two, or_replace=True) == 1
    assert rows(lake) == [{"a": 2, "b": "y"}]
    with pytest.raises(InvalidInput, match="not a write mode"):
        write(lake, one, "t", mode="upsert")


def test_an_existing_table_keeps_its_partitioning(lake: Session) -> None:
    df = frame(lake, "SELECT 1 AS a, date'2024-05-06' AS d")
    create_table_as(lake, "t", df, partition_by=["year(d)", "a"])
    assert files(lake)[0].path.split("/")[-3:-1] == ["year=2024", "a=1"]
    assert write(lake, df, "t", partition_by=["year(d)", "a"]) == 1
    with pytest.raises(InvalidInput, match="exists with another partitioning"):
        write(lake, df, "t", partition_by=["d"])


# Transactions


def test_appends_of_two_threads_both_commit(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    barrier = threading.Barrier(2)
    failures: list[BaseException] = []

    def work(start: int) -> None:
        try:
            with lake.cursor() as session, session.transaction():
                write(session, frame(session, f"SELECT id FROM range({start}, {start + 5})"), "t")
                barrier.wait(60)  # both have written before either commits
        except BaseException as error:
            failures.append(error)
            barrier.abort()
            raise

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(row["a"] for row in rows(lake)) == [*range(5), *range(100, 105)]


def test_a_refused_commit_removes_its_files(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    other = lake.cursor()
    other.use(LAKE)
    lake.begin()
    write(lake, frame(lake, "SELECT id FROM range(5)"), "t")
    assert len(on_disk(tmp_path)) == 1
    other.add_column("t", "b", "int32")
    with pytest.raises(Conflict):
        lake.commit()
    assert on_disk(tmp_path) == []
    lake.begin()
    write(lake, frame(lake, "SELECT id, 1 FROM range(5)"), "t")
    lake.rollback()
    assert on_disk(tmp_path) == []
    other.close()


def test_a_failure_after_the_job_removes_its_files(
    lake: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])

    def interrupted(*_: Any, **__: Any) -> Any:
        assert len(on_disk(tmp_path)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "described", interrupted)
    before = snapshot(lake)
    with pytest.raises(KeyboardInterrupt):
        write(lake, frame(lake, "SELECT id FROM range(5)"), "t")
    assert on_disk(tmp_path) == []
    assert snapshot(lake) == before


# Row ids, inlined rows, encryption


def test_rows_with_ids_keep_them(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64")])
    write(lake, frame(lake, "SELECT id FROM range(5)"), "t")
    df = frame(lake, f"SELECT id * 10 AS a, id AS {ROW_ID} FROM range(2, 4)")
    with lake.changing(lake.attachment(LAKE)) as change:
        table = change.transaction.state.table("t")
        assert append(lake.engine, change, table, df, with_row_ids=True) == 2
    view = lake.attachment(LAKE).catalog.now()
    assert view.statistics(found(lake)).next_row_id == 5
    (path,) = (path for path in paths(lake) if pq.read_metadata(path).num_rows == 2)
    held = pq.ParquetFile(path).read()
    assert held.to_pylist() == [{"a": 20, ROW_ID: 2}, {"a": 30, ROW_ID: 3}]
    assert held.schema.field(ROW_ID).metadata[b"PARQUET:field_id"] == b"2147483540"


def test_few_rows_are_kept_in_the_metastore(lake: Session, tmp_path: Path) -> None:
    lake.create_table(
        "t", [ColumnSpec("a", "uint64"), ColumnSpec("s", struct_of([("x", "int32")]))]
    )
    lake.set_option(LAKE, "data_inlining_row_limit", 3, table="t")
    reported = frame(lake, "SELECT id, named_struct('x', 1) FROM range(3)")
    untold = frame(lake, "SELECT id, named_struct('x', 2) FROM range(10) WHERE id = 7")
    assert write(lake, reported, "t") == 3
    assert write(lake, untold, "t") == 1
    assert on_disk(tmp_path) == []
    assert inlined(lake) == [[0, {"x": 1}], [1, {"x": 1}], [2, {"x": 1}], [7, {"x": 2}]]
    four = frame(lake, "SELECT id, NULL FROM range(4)")
    assert write(lake, four, "t") == 4
    assert len(rows(lake)) == 4
    assert len(inlined(lake)) == 4
    bad = frame(lake, "SELECT -1, NULL")
    with pytest.raises(InvalidInput, match=r"'t\.a' of type uint64 cannot hold '-1'"):
        write(lake, bad, "t")


def test_encrypted_files_have_one_key_each_and_reveal_nothing_in_their_names(
    engine: Engine, tmp_path: Path
) -> None:
    with connect(engine.spark) as session:
        session.attach(
            f"ducklake:sqlite:{tmp_path / 'metastore.db'}",
            LAKE,
            catalog="shop",
            data_path=str(tmp_path / "data"),
            create_if_not_exists=True,
            encrypted=True,
        )
        session.use(LAKE)
        df = frame(session, "SELECT id AS a, concat('p', id % 2) AS p FROM range(10)")
        create_table_as(session, "t", df, partition_by=["p"])
        listed = files(session)
        assert len({file.encryption_key for file in listed}) == 2
        seen = []
        for file in listed:
            assert file.path.count("/") == 3
            assert file.encryption_key is not None
            key = unwrap(file.encryption_key, None)
            path = session.attachment(LAKE).located(file.path)
            with pytest.raises(OSError, match="encrypted"):
                pq.read_metadata(path)
            read = pq.ParquetFile(path, decryption_properties=decryption(key)).read()
            assert len(set(read.column("p").to_pylist())) == 1
            seen += read.column("a").to_pylist()
        assert sorted(seen) == list(range(10))
        view = session.attachment(LAKE).catalog.now()
        ids = [file.data_file_id for file in listed]
        values = view.partition_values(found(session), ids)
        assert sorted(str(value.partition_value) for value in values) == ["p0", "p1"]
        assert not [path for path in (tmp_path / "data").rglob("*") if "p=" in path.name]
