"""Routes between Spark and files: relations, deleted rows, writes, and ownership of Spark."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException, PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from forklake.engines.spark import native
from forklake.engines.spark.engine import PARTITION_PREFIX, Engine, ListedFile
from forklake.engines.spark.routes import FileDeletes
from forklake.engines.spark.writing.align import translated
from forklake.errors import (
    Corruption,
    Forbidden,
    ForklakeError,
    NotFound,
    Unavailable,
    Unsupported,
)
from forklake.files.deletes import Deleted, write_delete_files
from forklake.files.keys import derived_key, new_key, to_base64

SPARK_ERRORS = (PySparkException, Py4JJavaError)
ID = StructType([StructField("id", LongType())])
NUMBER = StructType([StructField("__file", LongType())])


@pytest.fixture(scope="module")
def plain(engine: Engine) -> Engine:
    """Return an engine that does not use our Java classes."""
    return Engine(engine.base, native=False)


@pytest.fixture(params=["native", "plain"])
def either(request: pytest.FixtureRequest, engine: Engine) -> Engine:
    """Return an engine with either kind of routes."""
    if request.param == "native":
        return engine
    found: Engine = request.getfixturevalue("plain")
    return found


def ids_file(path: Path, ids: Iterable[int], key: bytes | None = None) -> Path:
    """Write a Parquet file with a column `id`, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    properties = None if key is None else pe.create_encryption_properties(key)
    pq.write_table(
        pa.table({"id": pa.array(ids, pa.int64())}), path, encryption_properties=properties
    )
    return path


def listed(path: Path | str, *constants: object, key: bytes | None = None) -> ListedFile:
    return ListedFile(str(path), os.path.getsize(path), constants, key)


def numbered(paths: Sequence[Path]) -> list[ListedFile]:
    return [listed(path, number) for number, path in enumerate(paths)]


def always(files: Iterable[ListedFile]) -> Callable[[list[str]], list[ListedFile]]:
    return lambda filters: list(files)


def ids_of(df: DataFrame) -> list[int]:
    return sorted(row.id for row in df.select("id").collect())


# Relations


def test_relation_reads_files_of_any_name_with_constants_of_any_type(
    either: Engine, tmp_path: Path
) -> None:
    names = ["a b", "50%", "a%20b", "#1", "[x]", "{y}", "tab\there", "ü-日本", "a+b&c=d;e"]
    names += ["_hidden"] if either.is_native else []
    types: list[tuple[DataType, object]] = [
        (LongType(), 2**62),
        (IntegerType(), -7),
        (StringType(), 'tab\t, line\n, "quotes" and \\ of 日本'),
        (BooleanType(), True),
        (DoubleType(), 0.1),
        (DecimalType(20, 3), Decimal("-12345678901234567.125")),
        (DateType(), datetime.date(1969, 7, 20)),
        (TimestampType(), datetime.datetime(2024, 2, 29, 1, 2, 3, 456789, tzinfo=datetime.UTC)),
        (BinaryType(), b"\0\xff"),
    ]
    constants = StructType([StructField(f"c{n}", kind) for n, (kind, _) in enumerate(types)])
    values = tuple(value for _, value in types)
    files = []
    for number, name in enumerate(names):
        path = ids_file(tmp_path / name / f"{name}.parquet", [number])
        files.append(listed(path, *(values if number % 2 else [None] * len(values))))
    files.append(listed_as_uri(ids_file(tmp_path / "u r" / "i.parquet", [99]), values))

    df = either.relation(ID, constants, always(files), size=1)
    rows = df.select("id", *constants.names, F.unix_micros("c7"), "_metadata.row_index").collect()
    micros = int(values[7].timestamp()) * 10**6 + 456789  # type: ignore[attr-defined]
    expected = (*values[:7], *values[8:], micros, 0)
    found = {row[0]: (*row[1:8], *row[9:]) for row in rows}
    assert sorted(found) == [*range(len(names)), 99]
    for number, row in found.items():
        assert row == (expected if number % 2 else (None,) * (len(values)) + (0,))


def listed_as_uri(path: Path, constants: tuple[object, ...]) -> ListedFile:
    return ListedFile(path.as_uri(), path.stat().st_size, constants)


def test_relation_lists_files_with_the_filters_that_spark_pushes(
    engine: Engine, tmp_path: Path
) -> None:
    files = numbered([ids_file(tmp_path / f"{n}.parquet", range(n, n + 2)) for n in range(4)])
    requested: list[list[str]] = []

    def list_files(filters: list[str]) -> list[ListedFile]:
        requested.append(filters)
        return files

    df = engine.relation(ID, NUMBER, list_files, size=10**9)
    assert ids_of(df) == [0, 1, 1, 2, 2, 3, 3, 4]
    assert requested == [[]]

    assert ids_of(df.where("id >= 2 and `__file` <> 2")) == [2, 3, 4]
    assert "(id >= 2L)" in requested[-1]

    # Spark infers this filter through the join.
    small = engine.spark.createDataFrame([(3,)], ID).withColumnRenamed("id", "other")
    assert ids_of(df.join(small, F.col("id") == F.col("other")).where("other = 3")) == [3, 3]
    assert "(id = 3L)" in requested[-1]

    assert df.inputFiles() == [f"file://{file.path}" for file in files]


def test_filters_on_constants_are_applied_even_if_the_listing_ignores_them(
    engine: Engine, tmp_path: Path
) -> None:
    files = numbered([ids_file(tmp_path / f"{n}.parquet", [n]) for n in range(5)])
    df = engine.relation(ID, NUMBER, always(files), size=1)
    assert ids_of(df.where("`__file` in (1, 3)")) == [1, 3]
    assert ids_of(df.where("`__file` > 1 and `__file` % 2 = 0 and id < 4")) == [2]
    assert df.where("`__file` is null").count() == 0


def test_timestamps_in_filters_are_passed_in_utc(engine: Engine, tmp_path: Path) -> None:
    session = engine.new_session()
    session.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    requested: list[list[str]] = []

    def list_files(filters: list[str]) -> list[ListedFile]:
        requested.append(filters)
        return []

    schema = StructType([StructField("at", TimestampType())])
    df = session.relation(schema, StructType(), list_files, size=1)
    assert df.where("at = timestamp '2024-01-01 09:00:00'").count() == 0
    assert "(`at` = TIMESTAMP '2024-01-01 00:00:00')" in [
        text.replace("(at ", "(`at` ") for text in requested[-1]
    ]


def test_relation_without_files_has_no_rows(either: Engine) -> None:
    df = either.relation(ID, NUMBER, always([]), size=0)
    assert df.select("id", "__file", "_metadata.row_index").collect() == []


def test_relation_of_ten_thousand_files_is_planned(engine: Engine, tmp_path: Path) -> None:
    path = ids_file(tmp_path / "one.parquet", [1])
    size = path.stat().st_size
    files = [ListedFile(str(tmp_path / f"{n}.parquet"), size, (n,)) for n in range(10_000)]
    files[7777] = listed(path, 7777)
    df = engine.relation(ID, NUMBER, always(files), size=size * 10_000)
    planned = df._jdf.queryExecution().executedPlan().execute()
    assert planned.getNumPartitions() > 1
    assert ids_of(df.where("`__file` = 7777")) == [1]


def test_missing_file_is_an_error(either: Engine, tmp_path: Path) -> None:
    there = ids_file(tmp_path / "there.parquet", [1])
    gone = ListedFile(str(tmp_path / "gone.parquet"), 100, (1,))
    df = either.relation(ID, NUMBER, always([listed(there, 0), gone]), size=1)
    with pytest.raises(SPARK_ERRORS, match=r"gone\.parquet") as caught:
        df.select("id").collect()
    assert_is(caught.value, NotFound, "gone.parquet")


def assert_is(error: BaseException, kind: type[ForklakeError], text: str) -> None:
    """Check the Forklake error that an error raised by Spark translates to."""
    ours = translated(error)
    assert type(ours) is kind
    assert text in str(ours)


def test_causes_of_unreadable_files_are_distinguished(engine: Engine, tmp_path: Path) -> None:
    good = ids_file(tmp_path / "good.parquet", range(100))
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-10])
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["text"]}), other)
    secret = ids_file(tmp_path / "secret.parquet", [1], new_key())
    cases: list[tuple[Path, bytes | None, type[ForklakeError]]] = [
        (cut, None, Corruption),
        (other, None, Corruption),
        (secret, None, Forbidden),
        (secret, new_key(), Forbidden),
    ]
    for path, key, kind in cases:
        df = engine.relation(ID, NUMBER, always([listed(path, 0, key=key)]), size=1)
        with pytest.raises(SPARK_ERRORS, match=path.name) as caught:
            df.collect()
        assert_is(caught.value, kind, str(path))

    df = engine.relation(ID, NUMBER, always([listed(good, 0)]), size=1)
    missing = tmp_path / "gone.parquet"
    for path, kind in ((missing, NotFound), (cut, Corruption), (secret, Forbidden)):
        is_deleted = engine.deleted([FileDeletes(0, str(good), str(path))])
        with pytest.raises(SPARK_ERRORS, match=path.name) as caught:
            df.where(~is_deleted(F.col("__file"), F.col("_metadata.row_index"))).collect()
        assert_is(caught.value, kind, str(path))


def test_listing_error_becomes_the_query_error(engine: Engine) -> None:
    def list_files(filters: list[str]) -> list[ListedFile]:
        raise Unavailable("The metastore is gone.", remedy='Start it with "pg_ctl".')

    df = engine.relation(ID, NUMBER, list_files, size=1)
    with pytest.raises(IllegalArgumentException, match=r'gone\. Start it with "pg_ctl"') as caught:
        df.collect()
    assert_is(caught.value, Unavailable, "The metastore is gone.")


# Deleted rows


def test_deleted_rows_combine_delete_files_and_inlined_positions(
    either: Engine, tmp_path: Path
) -> None:
    paths = [ids_file(tmp_path / f"{n}.parquet", range(n * 10, n * 10 + 10)) for n in range(4)]
    in_file = write_delete_files(
        str(tmp_path / "deletes é"),
        [Deleted(str(paths[1]), [0, 9]), Deleted(str(paths[2]), [1, 2, 3])],
    )
    is_deleted = either.deleted(
        [
            FileDeletes(0, str(paths[0]), None, [5]),
            FileDeletes(1, str(paths[1]), in_file[0].path),
            FileDeletes(2, str(paths[2]), in_file[1].path, [3, 7]),
        ]
    )
    df = either.relation(ID, NUMBER, always(numbered(paths)), size=1)
    kept = df.where(~is_deleted(F.col("__file"), F.col("_metadata.row_index")))
    assert ids_of(kept) == sorted(set(range(40)) - {5, 10, 19, 21, 22, 23, 27})

    swapped = either.deleted([FileDeletes(1, str(paths[1]), in_file[1].path)])
    kept = df.where(~swapped(F.col("__file"), F.col("_metadata.row_index")))
    with pytest.raises(SPARK_ERRORS, match=f"belongs to .*{paths[2].name}") as caught:
        kept.collect()
    assert_is(caught.value, Corruption, in_file[1].path)


# Writing

NESTED = """
    select id, array(named_struct('x', id)) as l, map('k', array(id)) as m,
           named_struct('a b', named_struct('c', id)) as s
    from range(0, 100, 1, 2)
"""
NESTED_IDS = {
    "id": 1,
    "l": 2,
    "l.list.element": 3,
    "l.list.element.x": 4,
    "m": 5,
    "m.key_value.key": 6,
    "m.key_value.value": 7,
    "m.key_value.value.list.element": 8,
    "s": 9,
    "s.a b": 10,
    "s.a b.c": 11,
}


def parquet_ids(path: str) -> dict[str, int]:
    """Return the field ids of a file by path of the node."""
    found: dict[str, int] = {}

    def visit(field: pa.Field, place: str) -> None:
        number = (field.metadata or {}).get(b"PARQUET:field_id")
        if number is not None:
            found[place] = int(number)
        kind = field.type
        if pa.types.is_struct(kind):
            for child in kind:
                visit(child, f"{place}.{child.name}")
        elif pa.types.is_map(kind):
            visit(kind.key_field, f"{place}.key_value.key")
            visit(kind.item_field, f"{place}.key_value.value")
        elif pa.types.is_list(kind):
            visit(kind.value_field, f"{place}.list.element")

    for field in pq.read_schema(path):
        visit(field, field.name)
    return found


def test_written_files_have_field_ids_and_options(either: Engine, tmp_path: Path) -> None:
    folder = str(tmp_path / "t a%20b")
    options = {"compression": "zstd", "parquet.block.row.count.limit": "20"}
    paths = either.write(either.spark.sql(NESTED), folder, field_ids=NESTED_IDS, options=options)
    assert len(paths) == 2
    for path in paths:
        assert Path(path).parent == Path(folder)
        assert Path(path).name.startswith("ducklake-")
        footer = pq.read_metadata(path)
        assert (footer.num_rows, footer.num_row_groups) == (50, 3)
        assert footer.row_group(0).column(0).compression == "ZSTD"
        ids = parquet_ids(path)
        if either.is_native:
            assert ids == NESTED_IDS
        else:
            assert ids.items() <= NESTED_IDS.items()
            assert {"id", "l", "m", "s", "s.a b.c", "l.list.element.x"} <= ids.keys()
    if either.is_native:
        assert sorted(os.listdir(folder)) == sorted(Path(path).name for path in paths)
    assert sorted(pa.concat_tables(map(pq.read_table, paths))["id"].to_pylist()) == [*range(100)]


def test_partition_columns_name_folders_and_stay_in_the_files(
    either: Engine, tmp_path: Path
) -> None:
    name = f"{PARTITION_PREFIX}p"
    rows = either.spark.createDataFrame([(1, "a/b"), (2, f"{PARTITION_PREFIX}c"), (3, None)])
    rows = rows.toDF("id", "p").withColumn(name, F.col("p")).coalesce(1)
    paths = either.write(rows, str(tmp_path), field_ids={"id": 1, "p": 2}, partition_by=[name])
    found = {os.path.relpath(os.path.dirname(path), tmp_path): path for path in paths}
    assert sorted(found) == ["p=__HIVE_DEFAULT_PARTITION__", f"p={PARTITION_PREFIX}c", "p=a%2Fb"]
    file = pq.ParquetFile(found["p=a%2Fb"])
    assert file.read().to_pylist() == [{"id": 1, "p": "a/b"}]


def test_failed_write_leaves_no_files(either: Engine, tmp_path: Path) -> None:
    kept = ids_file(tmp_path / "t" / "ducklake-of-another.parquet", [1])
    rows = either.spark.sql(
        "select id, id % 5 as __partition_p, assert_true(id < 3990) as a from range(0, 4000, 1, 4)"
    )
    with pytest.raises(SPARK_ERRORS):
        either.write(rows, str(tmp_path / "t"), field_ids={}, partition_by=["__partition_p"])
    assert list(tmp_path.rglob("*")) == [kept.parent, kept]


def test_write_does_not_depend_on_the_session_of_the_rows(engine: Engine, tmp_path: Path) -> None:
    other = engine.new_session().spark
    other.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    rows = other.sql("select timestamp '2024-01-01 00:00:00' as at").coalesce(1)
    (path,) = engine.write(rows, str(tmp_path / "t"), field_ids={"at": 1})
    assert pq.ParquetFile(path).schema.column(0).physical_type == "INT64"
    # Writes of the session itself are not affected.
    engine.spark.range(3).write.parquet(str(tmp_path / "own"))
    assert engine.spark.read.parquet(str(tmp_path / "own")).count() == 3


# Encryption


def test_encrypted_files_are_written_and_read_with_a_key_each(
    engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job_key = new_key()
    rows = engine.spark.range(0, 1000, 1, 2)
    paths = engine.write(rows, str(tmp_path / "t"), field_ids={"id": 1}, job_key=job_key)
    keys = [derived_key(job_key, path) for path in paths]
    assert len(set(keys)) == 2
    for path, key in zip(paths, keys, strict=True):
        assert Path(path).read_bytes()[:4] == b"PARE"
        opened = pq.read_table(path, decryption_properties=pe.create_decryption_properties(key))
        assert opened.num_rows == 500

    foreign_key = new_key()
    foreign = ids_file(tmp_path / "foreign.parquet", [1000], foreign_key)
    open_file = ids_file(tmp_path / "open.parquet", [1001])
    (deletes,) = write_delete_files(str(tmp_path), [Deleted(str(foreign), [0], foreign_key)])
    files = [
        *(listed(path, n, key=key) for n, (path, key) in enumerate(zip(paths, keys, strict=True))),
        listed(foreign, 2, key=foreign_key),
        listed(open_file, 3),
    ]
    df = engine.relation(ID, NUMBER, always(files), size=1)
    assert ids_of(df) == [*range(1002)]
    is_deleted = engine.deleted(
        [FileDeletes(2, str(foreign), deletes.path)], keys={deletes.path: foreign_key}
    )
    kept = df.where(~is_deleted(F.col("__file"), F.col("_metadata.row_index")))
    assert ids_of(kept) == [*range(1000), 1001]

    kept.explain("extended")
    shown = capfd.readouterr().out
    assert "LakeFileIndex" in shown
    for key in (job_key, foreign_key, *keys):
        assert to_base64(key) not in shown
        assert key.hex() not in shown

    without = engine.relation(ID, NUMBER, always([listed(paths[0], 0)]), size=1)
    with pytest.raises(SPARK_ERRORS):
        without.collect()


def test_plain_routes_refuse_files_that_spark_would_skip(plain: Engine, tmp_path: Path) -> None:
    path = ids_file(tmp_path / "_a.parquet", [1])
    with pytest.raises(Unsupported, match=r"_a\.parquet"):
        plain.relation(ID, NUMBER, always([listed(path, 0)]), size=1)


def test_plain_routes_refuse_encryption(plain: Engine, tmp_path: Path) -> None:
    path = ids_file(tmp_path / "a.parquet", [1])
    with pytest.raises(Unsupported, match="Encrypted"):
        plain.relation(ID, NUMBER, always([listed(path, 0, key=new_key())]), size=1)
    with pytest.raises(Unsupported, match="Encrypted"):
        plain.write(plain.spark.range(1), str(tmp_path), field_ids={}, job_key=new_key())


# Sessions


def test_spark_without_our_classes_is_logged_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(no_folder))
    monkeypatch.setattr(native, "_known", WeakKeyDictionary())
    with pytest.warns(UserWarning, match=r"Not a directory: .* more slowly and without encryption"):
        without = Engine(engine.base)
    assert not without.is_native
    assert not without.new_session().is_native
    assert ids_of(without.relation(ID, NUMBER, always([]), size=0)) == []


def test_sessions_are_isolated_and_share_one_spark(engine: Engine) -> None:
    one, other = engine.new_session(), Engine.start()
    assert one.is_native
    assert one.spark.sparkContext is other.spark.sparkContext
    one.spark.range(3).createOrReplaceTempView("only_here")
    one.spark.conf.set("spark.sql.shuffle.partitions", "77")
    assert not other.spark.catalog.tableExists("only_here")
    assert not one.new_session().spark.catalog.tableExists("only_here")
    assert other.spark.conf.get("spark.sql.shuffle.partitions") == "2"
    one.close()
    other.close()
    assert engine.spark.range(3).count() == 3


def test_engine_on_a_user_session_keeps_its_settings(engine: Engine) -> None:
    users = engine.new_session().spark
    users.conf.set("spark.sql.shuffle.partitions", "5")
    users.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    users.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    users.range(3).createOrReplaceTempView("mine")
    ours = Engine.start(users)
    assert ours.spark.table("mine").count() == 3
    assert ours.spark.conf.get("spark.sql.shuffle.partitions") == "5"
    assert ours.spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert ours.spark.conf.get("spark.sql.parquet.outputTimestampType") == "TIMESTAMP_MICROS"
    assert users.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"
    ours.close()
    assert users.range(2).count() == 2
