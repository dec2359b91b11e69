"""`format("forklake")`: tables read and written with Arrow by any Spark session."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, IsNull, Not
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from forklake import ColumnSpec, NewDataFile, Session, list_of, map_of, struct
from forklake.errors import Conflict, Corruption, InvalidInput, NotFound
from forklake.files.paths import folder_value
from forklake.session.places import Place, When
from pyspark_forklake.datasource import (
    ForklakeSource,
    ReadPart,
    TableReader,
    TableWriter,
    Written,
)
from tests.spark.builders import add_file, delete_rows, insert, rows_of, write_parquet

COLUMNS = [ColumnSpec("id", "int64", nulls_allowed=False), ColumnSpec("name", "varchar")]


def options(metadata: str, table: str = "t", **further: object) -> dict[str, str]:
    """Return the options that name a table of the lake."""
    given = {"uri": metadata, "catalog": "sales", "table": table, **further}
    return {name: str(value) for name, value in given.items()}


def loaded(lake: Session, metadata: str, table: str = "t", **further: object) -> DataFrame:
    """Return a table read by Spark with its Python processes."""
    reader = lake.engine.spark.read.format("forklake")
    return reader.options(**options(metadata, table, **further)).load()


def planned(metadata: str, table: str = "t", *filters: Filter, **further: object) -> list[ReadPart]:
    """Return the parts that tasks would read."""
    source = ForklakeSource(options(metadata, table, pushdown=True, **further))
    reader = source.reader(source.schema())
    reader.pushFilters(list(filters))
    return [part for part in reader.partitions() if isinstance(part, ReadPart)]


def read_here(metadata: str, table: str = "t", **further: object) -> list[tuple[Any, ...]]:
    """Return the rows of a table as tasks read them, in this process."""
    source = ForklakeSource(options(metadata, table, **further))
    reader = TableReader(Place.of(source.options), When.of(source.options), source.schema())
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return sorted((tuple(row.values()) for b in batches for row in b.to_pylist()), key=repr)


def people(*ids: int) -> list[dict[str, Any]]:
    """Return rows with a number and a name."""
    return [{"id": one, "name": f"n{one}"} for one in ids]


def pairs(*ids: int) -> list[tuple[Any, ...]]:
    """Return the rows of `people` as they are read."""
    return sorted(((one, f"n{one}") for one in ids), key=repr)


def files_on_disk(lake: Session) -> list[Path]:
    """Return the paths of all data files of the lake."""
    return sorted(Path(lake.attachment("lake").data_path).rglob("*.parquet"))


def same_rows(lake: Session, metadata: str, table: str = "t", **when: Any) -> int:
    """Compare what tasks read with what the session shows, and return the number of rows."""
    shown = lake.table(table, **when).toArrow().to_pylist()
    expected = [tuple(row.values()) for row in shown]
    assert read_here(metadata, table, **when) == sorted(expected, key=repr)
    return len(expected)


# Through Spark


def test_a_dataframe_is_written_and_read_by_a_plain_spark_session(
    lake: Session, metadata: str
) -> None:
    columns = [
        ColumnSpec("id", "int64", nulls_allowed=False),
        ColumnSpec("day", "date"),
        ColumnSpec("at", "timestamptz"),
        ColumnSpec("local", "timestamp"),
        ColumnSpec("clock", "time"),
        ColumnSpec("price", "decimal(12,2)"),
        ColumnSpec("big", "uint64"),
        ColumnSpec("small", "int8"),
        ColumnSpec("x", "float32"),
        ColumnSpec("blob", "blob"),
        ColumnSpec("ok", "boolean"),
        ColumnSpec("s", struct(a="int32", b="varchar")),
        ColumnSpec("l", list_of(struct(a="int32"))),
        ColumnSpec("m", map_of("varchar", "decimal(6,1)")),
        ColumnSpec("extra", "varchar", default="def"),
    ]
    lake.create_table("t", columns, partition_by=["year(day)"])
    rows = lake.engine.spark.sql("""
        SELECT id, make_date(2000 + CAST(id AS INT), 1, 31) AS day,
          TIMESTAMP '2024-01-31 12:00:00.123456' AS at,
          TIMESTAMP_NTZ '2024-01-31 12:00:00.123456' AS local,
          TIME '12:34:56.789' AS clock, CAST(id AS DECIMAL(12,2)) / 3 AS price,
          CAST(18446744073709551615 AS DECIMAL(20,0)) AS big, CAST(id AS SMALLINT) AS small,
          CAST(1.5 AS FLOAT) AS x, X'00FF' AS blob, id > 1 AS ok,
          IF(id = 2, NULL, named_struct('a', CAST(id AS INT), 'b', 'z')) AS s,
          array(named_struct('a', CAST(id AS INT)), NULL) AS l,
          map('k', CAST(id AS DECIMAL(6,1))) AS m
        FROM range(1, 4)""")
    lake.engine.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    rows.write.format("forklake").mode("append").options(**options(metadata, "main.t")).save()
    lake.engine.spark.conf.set("spark.sql.session.timeZone", "UTC")
    seen = loaded(lake, metadata)
    assert seen.schema.simpleString() == lake.table("t").schema.simpleString()
    assert [field.name for field in seen.schema if not field.nullable] == ["id"]
    assert rows_of(seen) == rows_of(lake.table("t"))
    first = seen.where("id = 1").collect()[0].asDict(recursive=True)
    assert first["at"].astimezone(UTC) == datetime(2024, 1, 31, 12, 0, 0, 123456, UTC)
    assert first["clock"] == time(12, 34, 56, 789000)
    assert (first["price"], first["big"]) == (Decimal("0.33"), 2**64 - 1)
    assert (first["s"], first["l"]) == ({"a": 1, "b": "z"}, [{"a": 1}, None])
    assert (first["m"], first["extra"]) == ({"k": Decimal(1)}, "def")
    paths = [str(path) for path in files_on_disk(lake)]
    assert len(paths) == 0 or all("year=" in path for path in paths)
    same_rows(lake, metadata)


def test_spark_filters_prune_files_and_old_versions_stay_readable(
    lake: Session, metadata: str
) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1, 2))
    doomed = files_on_disk(lake)
    second = add_file(lake, "t", people(3, 4, 5))
    before = lake.attachment("lake").catalog.current_snapshot()
    delete_rows(lake, "t", {second: [1]})
    now = loaded(lake, metadata)
    insert(lake, "t", people(6))
    assert rows_of(now.where("id = 3")) == pairs(3)
    assert rows_of(now) == pairs(1, 2, 3, 5)  # regardless of earlier queries
    assert rows_of(loaded(lake, metadata, version=before)) == pairs(1, 2, 3, 4, 5)
    for path in doomed:
        path.unlink()
    pruned = loaded(lake, metadata, pushdown=True)
    assert rows_of(pruned.where("id >= 3 AND name <> 'n6'")) == pairs(3, 5)
    with pytest.raises(PySparkException, match="does not exist"):
        loaded(lake, metadata).where("id >= 3").collect()


def test_overwriting_replaces_rows_and_a_failing_write_leaves_nothing(
    lake: Session, metadata: str
) -> None:
    lake.create_table("t", COLUMNS)
    lake.attachment("lake").catalog.set_option("data_inlining_row_limit", 0)
    add_file(lake, "t", people(1, 2))
    spark = lake.engine.spark
    new = spark.createDataFrame([("x", 7), ("y", 8)], "name string, id int")
    new.coalesce(1).write.format("forklake").mode("overwrite").options(**options(metadata)).save()
    assert rows_of(lake.table("t")) == [(7, "x"), (8, "y")]
    files, head = files_on_disk(lake), lake.attachment("lake").catalog.current_snapshot()
    # In one task: another one that ends after the job was aborted would leave a file behind.
    bad = spark.range(10, 40, 1, 1).selectExpr("IF(id = 39, NULL, id) AS id", "'z' AS name")
    with pytest.raises(PySparkException, match="NOT NULL constraint failed"):
        bad.write.format("forklake").mode("append").options(**options(metadata)).save()
    assert files_on_disk(lake) == files
    assert lake.attachment("lake").catalog.current_snapshot() == head


def test_bad_options_are_refused(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    with pytest.raises(PySparkException, match="options are missing: catalog, table"):
        lake.engine.spark.read.format("forklake").option("uri", metadata).load()
    with pytest.raises(NotFound, match=r"Table 'lake\.main\.nothing' does not exist"):
        planned(metadata, "nothing")
    with pytest.raises(InvalidInput, match="options version and timestamp each select a snapshot"):
        planned(metadata, version=1, timestamp="2024-01-01")
    with pytest.raises(InvalidInput, match="option version cannot be 'x'"):
        planned(metadata, version="x")
    with pytest.raises(NotFound, match="No snapshot found at timestamp"):
        planned(metadata, timestamp="2000-01-01")
    with pytest.raises(InvalidInput, match="can be read only as a stream"):
        planned(metadata, readChangeFeed=True)
    for column in (StructField("id", IntegerType()), StructField("other", StringType())):
        reader = ForklakeSource(options(metadata)).reader(StructType([column]))
        with pytest.raises(InvalidInput, match="has no column"):
            reader.partitions()


def test_time_travel_options_of_other_formats_are_accepted(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    lake.execute("INSERT INTO t VALUES (1, 'one')")
    version = lake.snapshots("lake")[-1].snapshot_id
    time = lake.snapshots("lake")[-1].snapshot_time.isoformat()
    lake.execute("INSERT INTO t VALUES (2, 'two')")
    for name in ("version", "versionAsOf", "VERSIONASOF", "snapshot_version"):
        assert read_here(metadata, "t", **{name: version}) == [(1, "one")]
    for name in ("timestamp", "timestampAsOf", "snapshot_time"):
        assert read_here(metadata, "t", **{name: time}) == [(1, "one")]
    with pytest.raises(InvalidInput, match="versionAsOf and timestampAsOf"):
        planned(metadata, versionAsOf=version, timestampAsOf=time)


def test_unknown_options_are_refused(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)

    def source(**further: object) -> ForklakeSource:
        return ForklakeSource(options(metadata, "t", **further))

    schema = source().schema()
    with pytest.raises(InvalidInput, match="Unknown option 'versoin' to read a table"):
        source(versoin=1).reader(schema)
    with pytest.raises(InvalidInput, match="Unknown option 'versionAsOf' to write a table"):
        source(versionAsOf=1).writer(schema, False)
    with pytest.raises(InvalidInput, match="Unknown option 'pushdown' to read a stream"):
        source(pushdown=True).streamReader(schema)
    with pytest.raises(InvalidInput, match="Unknown option 'startingVersion' to write a stream"):
        source(startingVersion=1, checkpointLocation="c").streamWriter(schema, False)
    with pytest.raises(InvalidInput, match="Unknown option 'path'"):
        source(path="/somewhere").reader(schema)
    with pytest.raises(PySparkException, match="Unknown option 'versoin'"):
        loaded(lake, metadata, versoin=1).collect()


# What tasks read


def test_evolved_columns_are_read_like_in_the_session(lake: Session, metadata: str) -> None:
    inner = struct(x="int32", y="varchar")
    lake.create_table(
        "t",
        [
            ColumnSpec("id", "int64"),
            ColumnSpec("name", "varchar"),
            ColumnSpec("n", "int16"),
            ColumnSpec("s", struct(x="int32", deep=inner)),
            ColumnSpec("l", list_of(inner)),
            ColumnSpec("m", map_of("varchar", inner)),
        ],
    )
    value = {"x": 1, "y": "a"}
    full = {"s": {"x": 1, "deep": value}, "l": [value, None], "m": [("k", value), ("j", None)]}
    rows: list[dict[str, Any]] = [
        {"id": 1, "name": "one", "n": 7, **full},
        {"id": 2},
        {"id": 3, "s": {"x": None, "deep": None}, "l": [], "m": []},
        {"id": 4, **full},
    ]
    first = add_file(lake, "t", rows)
    delete_rows(lake, "t", {first: [0]})
    insert(lake, "t", [{"id": 9, "s": {"x": 5, "deep": value}, "m": {"q": value}}])
    before = lake.attachment("lake").catalog.current_snapshot()
    lake.rename_column("t", "s.x", "renamed")
    lake.add_column("t", "s.more", "int32", default="42")
    lake.drop_column("t", "s.deep.y")
    lake.add_column("t", "s.deep.y", "date")
    lake.set_column_type("t", "l.element.x", "int64")
    lake.add_column("t", "m.value.w", "varchar", default="w")
    lake.set_column_type("t", "n", "float32")
    lake.drop_column("t", "name")
    lake.add_column("t", "name", "timestamptz", default="2024-01-31 12:00:00+00")
    for kind, text in {
        "uint64": "5",
        "time": "12:34:56",
        "uuid": None,
    }.items():
        lake.add_column("t", f"new_{kind}", kind, default=text)
    add_file(lake, "t", [{"id": 10}])
    assert same_rows(lake, metadata) == 5
    assert same_rows(lake, metadata, version=before) == 4


def test_files_of_other_writers_are_read_by_column_name(
    lake: Session, metadata: str, tmp_path: Path
) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("later", "int32", default="5")])
    place = lake.resolve("t")
    path = str(tmp_path / "theirs" / "a.parquet")
    write_parquet(path, pa.table({"ID": [1, 2], "called": ["a", "b"], "later": [7, 7]}))
    with lake.changing(place.attachment) as change:
        table = lake.find_table(change.transaction, place)
        ids = {field.name: field.column_id for field in change.transaction.state.fields(table)}
        names = [("ID", ids["id"]), ("called", ids["name"])]
        mapping = change.transaction.add_name_mapping(table, names)
        size = Path(path).stat().st_size
        file = NewDataFile(path, 2, size, path_is_relative=False, mapping_id=mapping)
        change.transaction.add_data_files(table, [file])
    assert read_here(metadata) == [(1, "a", None), (2, "b", None)]
    assert same_rows(lake, metadata) == 2


def test_partition_values_are_parsed_from_folder_names() -> None:
    path = "/lake/P%20x=a%2Fb/day=__HIVE_DEFAULT_PARTITION__/f.parquet"
    assert folder_value("p x", path) == "a/b"
    assert folder_value("day", path) is None
    assert folder_value("other", path) is None


def test_only_files_that_may_match_are_planned(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    for number in (1, 2, 3):
        add_file(lake, "t", people(number))
    assert sum(len(one.part.added) for one in planned(metadata)) == 3
    cases: list[tuple[list[Filter], int]] = [
        ([EqualTo(("id",), 2)], 1),
        ([GreaterThan(("id",), 1), Not(EqualTo(("name",), "n3"))], 1),
        ([IsNull(("id",))], 0),
    ]
    for filters, count in cases:
        assert sum(len(one.part.added) for one in planned(metadata, "t", *filters)) == count


def test_only_selected_columns_are_read(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    schema = StructType([StructField("NAME", StringType())])
    reader = TableReader(Place.of(options(metadata)), When(), schema)
    (part,) = reader.partitions()
    assert [batch.to_pylist() for batch in reader.read(part)] == [[{"NAME": "n1"}]]


def test_encrypted_files_are_written_and_read_by_tasks(session: Session, metadata: str) -> None:
    session.attach(metadata, "lake", catalog="sales", encrypted=True, create_if_not_exists=True)
    session.use("lake")
    session.attachment("lake").catalog.set_option("data_inlining_row_limit", 0)
    session.create_table("t", COLUMNS)
    written_here(metadata, people(1, 2))
    (path,) = files_on_disk(session)
    assert path.read_bytes()[-4:] == b"PARE"
    assert read_here(metadata) == pairs(1, 2)
    assert rows_of(session.table("t")) == pairs(1, 2)


def test_a_damaged_file_is_a_clear_error(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    (path,) = files_on_disk(lake)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(Corruption, match="is truncated"):
        read_here(metadata)
    write_parquet(str(path), pa.table({"id": ["x"], "name": ["n"]}))
    with pytest.raises(Corruption, match="The column 'id' of the file"):
        read_here(metadata)


# What tasks write


def written_here(metadata: str, rows: list[dict[str, Any]], table: str = "t") -> TableWriter:
    """Write rows with a writer task and commit them, in this process."""
    writer = ForklakeSource(options(metadata, table)).writer(StructType(), False)
    assert isinstance(writer, TableWriter)
    writer.commit([writer.write(iter(pa.Table.from_pylist(rows).to_batches()))])
    return writer


def test_files_are_split_by_size_and_partitioned(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS, partition_by=["name"])
    catalog = lake.attachment("lake").catalog
    catalog.set_option("target_file_size", 1)
    catalog.set_option("data_inlining_row_limit", 0)
    rows = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    writer = ForklakeSource(options(metadata)).writer(StructType(), False)
    message = writer.write(iter(pa.Table.from_pylist(rows).to_batches() * 2))
    assert isinstance(message, Written)
    writer.commit([message])
    folders = sorted(path.parent.name for path in files_on_disk(lake))
    assert folders == ["name=a", "name=a", "name=b", "name=b"]
    assert read_here(metadata) == [(1, "a"), (1, "a"), (2, "b"), (2, "b")]
    assert rows_of(lake.table("t", where="name = 'b'")) == [(2, "b"), (2, "b")]


def test_few_rows_are_kept_in_the_metastore(lake: Session, metadata: str) -> None:
    lake.attachment("lake").catalog.set_option("data_inlining_row_limit", 2)
    lake.create_table("t", COLUMNS)
    written_here(metadata, people(1, 2))
    assert files_on_disk(lake) == []
    written_here(metadata, people(3, 4, 5))
    assert len(files_on_disk(lake)) == 1
    assert read_here(metadata) == rows_of(lake.table("t")) == pairs(1, 2, 3, 4, 5)


def test_a_concurrently_changed_table_is_not_written(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    writer = ForklakeSource(options(metadata)).writer(StructType(), False)
    message = writer.write(iter(pa.Table.from_pylist(people(1)).to_batches()))
    lake.add_column("t", "more", "int32")
    with pytest.raises(Conflict, match="concurrent commit changed the columns"):
        writer.commit([message])
    assert files_on_disk(lake) == []
    assert rows_of(lake.table("t")) == []


def test_an_aborted_job_removes_its_files(lake: Session, metadata: str) -> None:
    lake.create_table("t", COLUMNS)
    writer = ForklakeSource(options(metadata)).writer(StructType(), False)
    message = writer.write(iter(pa.Table.from_pylist(people(1)).to_batches()))
    writer.abort([message])  # all tasks succeeded: the commit decides
    assert len(files_on_disk(lake)) == 1
    writer.abort([message, None])
    assert files_on_disk(lake) == []


def test_readers_and_parts_can_be_sent_to_tasks(lake: Session, metadata: str) -> None:
    import pickle

    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    insert(lake, "t", people(2))
    source = pickle.loads(pickle.dumps(ForklakeSource(options(metadata))))
    reader = source.reader(source.schema())
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    there: TableReader = pickle.loads(pickle.dumps(reader))
    rows = [row["id"] for part in parts for batch in there.read(part) for row in batch.to_pylist()]
    assert rows == [1, 2]
