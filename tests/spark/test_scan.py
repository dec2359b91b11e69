"""Tables as DataFrames: files, deletes, evolution, inlined rows, virtual columns, pruning."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from forklake import ColumnSpec, NewDataFile, Session, list_of, map_of, struct
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.reading.scan import scan
from forklake.errors import InvalidInput, NotFound
from forklake.files import keys
from forklake.files.footers import encryption
from forklake.model.scans import ScanFile
from forklake.model.types import _WIDER
from tests.spark.builders import add_file, delete_rows, insert, rows_of, write_parquet

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("name", "varchar")]


def snapshot(session: Session) -> int:
    """Return the newest snapshot."""
    return session.attachment("lake").catalog.current_snapshot()


def people(*ids: int) -> list[dict[str, Any]]:
    """Return rows with a number and a name."""
    return [{"id": one, "name": f"n{one}"} for one in ids]


def pairs(*ids: int) -> list[tuple[Any, ...]]:
    """Return the rows of `people` as they are read."""
    return sorted(((one, f"n{one}") for one in ids), key=repr)


def plan_of(frame: DataFrame) -> str:
    """Return the physical plan."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


def files_on_disk(session: Session) -> list[Path]:
    """Return the paths of all data files of the lake."""
    return sorted(Path(session.attachment("lake").data_path).rglob("*.parquet"))


# Rows


def test_rows_of_files_and_of_the_metastore_have_virtual_columns(
    lake: Session,
) -> None:
    lake.create_table("t", COLUMNS)
    first = add_file(lake, "t", people(1, 2))
    began = snapshot(lake)
    second = add_file(lake, "t", people(3, 4, 5))
    insert(lake, "t", people(6))
    deletes = {second: [1]}
    delete_rows(lake, "t", deletes)
    seen = lake.table(
        "t", virtual=["rowid", "snapshot_id", "filename", "file_row_number", "file_index"]
    )
    found = rows_of(seen)
    assert [row[:4] for row in found] == [
        (1, "n1", 0, began),
        (2, "n2", 1, began),
        (3, "n3", 2, began + 1),
        (5, "n5", 4, began + 1),
        (6, "n6", 5, began + 2),
    ]
    assert [row[5:] for row in found] == [(0, 0), (1, 0), (0, 1), (2, 1), (0, 2)]
    assert {Path(row[4]) for row in found[:4]} < set(files_on_disk(lake))
    assert found[4][4].startswith("ducklake_inlined_data_")
    assert seen.columns == [
        "id", "name", "rowid", "snapshot_id", "filename", "file_row_number", "file_index"
    ]  # fmt: skip
    view = lake.viewing(lake.attachment("lake"))
    for native in (True, False):
        engine = Engine(lake.engine.spark, native=native)
        placed = scan(engine, view, view.state.table("t"), positions=True).drop("name")
        assert rows_of(placed) == [
            (1, first, 0, 0),
            (2, first, 1, 1),
            (3, second, 0, 2),
            (5, second, 2, 4),
            (6, None, None, 5),
        ]


def test_deletes_in_files_and_in_the_metastore_add_up_from_their_snapshots_on(
    lake: Session,
) -> None:
    lake.create_table("t", COLUMNS)
    first, second = add_file(lake, "t", people(1, 2, 3)), add_file(lake, "t", people(4, 5))
    add_file(lake, "t", people(6))
    before = snapshot(lake)
    delete_rows(lake, "t", {first: [0]})
    with lake.changing(lake.attachment("lake")) as change:
        table = change.transaction.table("t")
        files = {one.file.data_file_id: one.file for one in change.transaction.scan_files(table)}
        change.transaction.delete_positions(table, files[second], [1])
        change.transaction.delete_positions(table, files[first], [2])
    assert rows_of(lake.table("t")) == pairs(2, 4, 6)
    assert lake.table("t").where("id > 3").count() == 2
    assert rows_of(lake.table("t", version=before)) == pairs(1, 2, 3, 4, 5, 6)


def test_an_inlined_or_empty_table_is_read_without_a_file_scan(
    lake: Session,
) -> None:
    columns = [
        *COLUMNS,
        ColumnSpec("price", "decimal(10,2)"),
        ColumnSpec("at", "timestamptz"),
        ColumnSpec("s", struct(x="int32", tags=list_of("varchar"), m=map_of("varchar", "date"))),
    ]
    lake.create_table("t", columns)
    assert rows_of(lake.table("t")) == []
    assert [field.simpleString() for field in lake.table("t").schema.fields] == [
        "id:bigint",
        "name:string",
        "price:decimal(10,2)",
        "at:timestamp",
        "s:struct<x:int,tags:array<string>,m:map<string,date>>",
    ]
    moment = datetime(2024, 1, 31, 12, tzinfo=UTC)
    nested = {"x": 1, "tags": ["a", None], "m": {"k": date(2024, 1, 31)}}
    insert(
        lake,
        "t",
        [{"id": 1, "name": "a", "price": Decimal("1.50"), "at": moment, "s": nested}, {"id": 2}],
    )
    found = lake.table("t")
    (one, two) = found.orderBy("id").collect()
    assert (one.price, one.s.x, one.s.tags, one.s.m) == (
        Decimal("1.50"), 1, ["a", None], {"k": date(2024, 1, 31)}
    )  # fmt: skip
    assert one["at"].timestamp() == moment.timestamp()
    assert tuple(two) == (2, None, None, None, None)
    assert "FileScan" not in plan_of(found)


def test_a_dataframe_is_pinned_to_the_snapshot_at_its_creation(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    first = add_file(lake, "t", people(1, 2))
    seen = lake.table("t")
    add_file(lake, "t", people(3))
    delete_rows(lake, "t", {first: [0]})
    lake.drop_table("t")
    assert rows_of(seen) == rows_of(seen.where("id > 0")) == pairs(1, 2)
    with pytest.raises(NotFound):
        lake.table("t")


def test_older_snapshots_show_renamed_and_dropped_tables_under_their_old_names(
    lake: Session,
) -> None:
    lake.create_schema("old")
    lake.create_table("old.t", COLUMNS)
    add_file(lake, "old.t", people(1))
    version = snapshot(lake)
    moment = lake.snapshots("lake")[-1].snapshot_time
    lake.rename_table("old.t", "u")
    lake.add_column("old.u", "more", "int32")
    assert lake.table("old.u").columns == ["id", "name", "more"]
    lake.drop_schema("old", cascade=True)
    assert rows_of(lake.table("old.t", version=version)) == pairs(1)
    assert rows_of(lake.table("old.t", timestamp=moment + timedelta(microseconds=1))) == pairs(1)
    with pytest.raises(NotFound, match="No snapshot found at version"):
        lake.table("old.t", version=10_000)


def test_a_transaction_sees_its_own_changes_and_its_dataframes_outlive_it(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    first = add_file(lake, "t", people(1, 2))
    lake.begin()
    add_file(lake, "t", people(3))
    insert(lake, "t", people(4))
    delete_rows(lake, "t", {first: [1]})
    seen = lake.table("t", virtual=["rowid", "snapshot_id"])
    add_file(lake, "t", people(5))
    found = rows_of(seen)
    assert [row[0] for row in found] == [1, 3, 4]
    assert found[0][2:] == (0, snapshot(lake))
    assert {row[2] for row in found[1:]} == {10**18, 10**18 + 1}
    assert [row[3] for row in found[1:]] == [None, None]
    other = lake.cursor()
    assert rows_of(other.table("t")) == pairs(1, 2)
    lake.commit()
    assert rows_of(seen.where("id > 2").select("id", "name")) == pairs(3, 4)
    assert rows_of(other.table("t")) == pairs(1, 3, 4, 5)
    other.close()


# Pruning


def test_files_that_cannot_match_are_not_opened(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1, 2))
    doomed = set(files_on_disk(lake))
    add_file(lake, "t", people(3, 4))
    for path in doomed:
        path.unlink()
    seen = lake.table("t")
    assert rows_of(seen.where("id = 3")) == pairs(3)
    assert rows_of(seen.where("id > 2 AND name LIKE 'n%'")) == pairs(3, 4)
    assert rows_of(seen.alias("x").where("x.name >= 'n3'")) == pairs(3, 4)
    assert rows_of(lake.table("t", where="ID IN (4, 5)")) == pairs(4)
    keys_frame = lake.engine.spark.createDataFrame([(4,)], "id bigint")
    joined = seen.join(keys_frame.where("id = 4"), "id").select("id", "name")
    assert rows_of(joined) == pairs(4)
    with lake.transaction():
        add_file(lake, "t", people(30))
        assert rows_of(lake.table("t", where="id = 3")) == pairs(3)
        assert rows_of(lake.table("t").where("id > 3")) == pairs(4, 30)
        lake.rollback()
    with pytest.raises((PySparkException, Py4JJavaError), match="FILE_NOT_EXIST"):
        seen.collect()


def test_files_are_pruned_by_every_read_method(lake: Session) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("n", "int8")])
    add_file(lake, "t", people(1))
    gone_before_promotion = add_file(lake, "t", people(2))
    lake.set_column_type("t", "n", "float32")
    add_file(lake, "t", people(3))
    gone = add_file(lake, "t", people(4))
    with_deletes = add_file(lake, "t", people(5, 6, 7))
    gone_with_deletes = add_file(lake, "t", people(8, 9))
    delete_rows(lake, "t", {with_deletes: [0], gone_with_deletes: [0]})
    view = lake.viewing(lake.attachment("lake"))
    files = {one.file.data_file_id: one for one in view.scan_files(view.state.table("t"))}
    for one in (gone, gone_before_promotion, gone_with_deletes):
        Path(files[one].path).unlink()
    seen = lake.table("t", virtual=["file_index"]).drop("n")
    kept = "id IN (1, 3, 5, 6, 7)"
    for found in (seen.where(kept), lake.table("t", where=kept).select("id", "name")):
        assert rows_of(found.select("id", "name")) == pairs(1, 3, 6, 7)
    assert {row.id: row.file_index for row in seen.where(kept).collect()} == {
        1: 0,
        3: 2,
        6: 4,
        7: 4,
    }
    assert rows_of(seen.where("id = 6").drop("file_index")) == pairs(6)


def test_plain_files_are_listed_when_a_query_is_planned_and_once_for_the_same_filter(
    lake: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create_table("t", COLUMNS)
    for number in range(3):
        add_file(lake, "t", people(number))
    listed: list[int] = []
    original = SnapshotReads.scan_files

    def counting(*arguments: Any) -> list[ScanFile]:
        found = original(*arguments)
        listed.append(len(found))
        return found

    monkeypatch.setattr(SnapshotReads, "scan_files", counting)
    seen = lake.table("t")
    assert listed == []
    assert rows_of(seen.where("id = 1")) == rows_of(seen.where("id = 1")) == pairs(1)
    assert listed == [1]
    assert seen.count() == seen.select("id").count() == 3
    assert listed == [1, 3]


def test_a_filter_on_an_alias_is_not_applied_to_the_column_of_that_name(lake: Session) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("s", struct(id="int64"))])
    add_file(lake, "t", [{"id": 1, "name": "n1", "s": {"id": 10}}])
    add_file(lake, "t", [{"id": 10, "name": "n10", "s": {"id": 1}}])
    seen = lake.table("t")
    for alias in ("s", "x"):
        other = seen.alias(alias)
        assert rows_of(other.where(f"{alias}.id = 1").select("name")) == [("n1",)]
        assert rows_of(other.where(f"{alias}.s.id = 1").select("name")) == [("n10",)]
    assert rows_of(seen.where("s.id = 1").select("name")) == [("n10",)]


def test_a_plain_table_is_read_by_a_plain_scan(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1, 2))
    plan = plan_of(lake.table("t").where("id = 1").select("name"))
    assert plan.count("FileScan") == 1
    assert "Union" not in plan
    assert "ReadSchema: struct<id:bigint,name:string>" in plan
    assert "EqualTo(id,1)" in plan
    assert "ReadSchema: struct<name:string>" in plan_of(lake.table("t").select("name"))


def test_a_bad_condition_or_virtual_column_is_refused(lake: Session) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("rowid", "int64")])
    for where in ("id >", "nothing = 1", "id + 1"):
        with pytest.raises(InvalidInput, match="cannot be used on table 't'"):
            lake.table("t", where=where)
    with pytest.raises(InvalidInput, match="Virtual column 'row' does not exist"):
        lake.table("t", virtual=["row"])
    with pytest.raises(InvalidInput, match="hides the"):
        lake.table("t", virtual=["rowid"])


# Evolution


def test_old_files_show_the_current_columns(lake: Session) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("a", "int32"), ColumnSpec("b", "int32")])
    add_file(lake, "t", [{"id": 1, "name": "one", "a": 10, "b": 20}])
    lake.rename_column("t", "a", "c")
    lake.rename_column("t", "b", "a")
    lake.rename_column("t", "c", "b")  # a and b have swapped names
    lake.drop_column("t", "name")
    lake.add_column("t", "name", "varchar", default="it's\\new")
    lake.add_column("t", '"weird `x`"', "decimal(6,2)", default="1.50")
    lake.set_column_type("t", "a", "int64")
    second = lake.viewing(lake.attachment("lake")).state
    names = {field.name: field.physical_name for field in second.fields(second.table("t"))}
    add_file(lake, "t", [{"id": 2, names["name"]: None, names["a"]: 2**40, names["b"]: 11}])
    columns = ("id", "a", "b", "name", "`weird ``x```")
    seen = lake.table("t")
    assert rows_of(seen.select(*columns)) == [
        (1, 20, 10, "it's\\new", Decimal("1.50")),
        (2, 2**40, 11, None, None),
    ]
    for where, ids in {
        "a = 20": [1],
        "b = 10": [1],
        "a = 1099511627776": [2],
        "name = 'one'": [],
        "name IS NULL": [2],
        "name LIKE 'it%'": [1],
        "`weird ``x``` > 1": [1],
        "`weird ``x``` IS NULL": [2],
        "a > 15 AND b < 100": [1, 2],
    }.items():
        assert [row.id for row in lake.table("t", where=where).orderBy("id").collect()] == ids
        assert seen.where(where).count() == len(ids)
    assert seen.groupBy().sum("a").collect()[0][0] == 2**40 + 20


def test_nested_fields_evolve(lake: Session) -> None:
    inner = struct(x="int32", y="varchar")
    lake.create_table(
        "t",
        [
            ColumnSpec("id", "int64"),
            ColumnSpec("s", struct(x="int32", deep=inner)),
            ColumnSpec("l", list_of(inner)),
            ColumnSpec("m", map_of("varchar", inner)),
        ],
    )
    value = {"x": 1, "y": "a"}
    add_file(
        lake,
        "t",
        [
            {"id": 1, "s": {"x": 1, "deep": value}, "l": [value, None], "m": [("k", value)]},
            {"id": 2, "s": None, "l": None, "m": None},
            {"id": 3, "s": {"x": None, "deep": None}, "l": [], "m": []},
        ],
    )
    lake.rename_column("t", "s.x", "renamed")
    lake.add_column("t", "s.more", "int32", default="42")
    lake.drop_column("t", "s.deep.y")
    lake.add_column("t", "s.deep.y", "date")
    lake.set_column_type("t", "l.element.x", "int64")
    lake.rename_column("t", "l.element.y", "z")
    lake.add_column("t", "m.value.w", "varchar", default="w")
    state = lake.viewing(lake.attachment("lake")).state
    fields = {field.name: field for field in state.fields(state.table("t"))}
    deep = fields["s"].fields[1]
    day = deep.fields[1].physical_name
    new = {"x": 5, "more": None, "deep": {"x": 6, day: date(2024, 1, 31)}}
    add_file(
        lake,
        "t",
        [{"id": 4, "s": new, "l": [{"x": 2**40, "y": "b"}], "m": [("k", {"x": 7, "w": None})]}],
    )
    seen = lake.table("t")
    rows = {row.id: row.asDict(recursive=True) for row in seen.collect()}
    assert rows[1]["s"] == {"renamed": 1, "deep": {"x": 1, "y": None}, "more": 42}
    assert rows[1]["l"] == [{"x": 1, "z": "a"}, None]
    assert rows[1]["m"] == {"k": {"x": 1, "y": "a", "w": "w"}}
    assert rows[2] == {"id": 2, "s": None, "l": None, "m": None}
    assert rows[3]["s"] == {"renamed": None, "deep": None, "more": 42}
    assert (rows[3]["l"], rows[3]["m"]) == ([], {})
    assert rows[4]["s"] == {
        "renamed": 5, "deep": {"x": 6, "y": date(2024, 1, 31)}, "more": None
    }  # fmt: skip
    assert rows[4]["l"] == [{"x": 2**40, "z": "b"}]
    assert rows[4]["m"] == {"k": {"x": 7, "y": None, "w": None}}
    for where, ids in {
        "s.more = 42": [1, 3],
        "s.renamed = 5": [4],
        "s.deep.y IS NULL AND s IS NOT NULL": [1, 3],
        "s.more IS NULL": [2, 4],
    }.items():
        assert [row.id for row in lake.table("t", where=where).orderBy("id").collect()] == ids
    with lake.transaction():
        add_file(lake, "t", [{"id": 5, "s": {"x": 8}}])
        assert lake.table("t", where="s.more = 42").count() == 2


SAMPLES: dict[str, tuple[Any, Any]] = {
    "date": (date(2024, 1, 31), datetime(2024, 1, 31)),  # noqa: DTZ001
    "timestamp": (datetime(2024, 1, 31, 12), datetime(2024, 1, 31, 12)),  # noqa: DTZ001
    "float32": (1.5, 1.5),
    "uint64": (Decimal(7), Decimal(7)),
}


def test_files_are_read_after_every_type_promotion(lake: Session) -> None:
    """One table with a column for each pair of types."""
    pairs_of_types = [
        (old, new)
        for old, wider in sorted(_WIDER.items())
        for new in sorted(wider)
        if new != "timestamp_ns"
    ] + [("decimal(4,2)", "decimal(10,4)")]
    names = {f"{old}_{new}".replace("(", "_"): (old, new) for old, new in pairs_of_types}
    lake.create_table("t", [ColumnSpec(name, old) for name, (old, _) in names.items()])
    values = {
        name: SAMPLES.get(old.removesuffix("_s").removesuffix("_ms"), (7, 7))
        for name, (old, _) in names.items()
    }
    add_file(lake, "t", [{name: pair[0] for name, pair in values.items()}])
    with lake.transaction():
        for name, (_, new) in names.items():
            lake.set_column_type("t", f'"{name}"', new)
    add_file(lake, "t", [{}])
    found = {tuple(row) for row in lake.table("t").collect()}
    expected = tuple(pair[1] for pair in values.values())
    assert found == {expected, (None,) * len(names)}


# Special files


def test_files_of_other_writers_are_read_by_column_name(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("day", "date"), ColumnSpec("size", "int32")])
    add_file(lake, "t", [{"id": 1, "name": "own", "size": 1}])
    lake.add_column("t", "late", "int32", default="9")
    path = tmp_path / "others" / "day=2024-01-31" / "f.parquet"
    theirs = {"key": [2], "Label": ["theirs"], "size": [5], "late": [8]}
    write_parquet(str(path), pa.table(theirs))
    with lake.changing(lake.attachment("lake")) as change:
        table = change.transaction.table("t")
        ids = {
            column.column_name: column.column_id
            for column in change.transaction.state.columns(table)
        }
        mapping = change.transaction.add_name_mapping(
            table, [("key", ids["id"]), ("Label", ids["name"])]
        )
        file = NewDataFile(
            str(path), 1, path.stat().st_size, path_is_relative=False, mapping_id=mapping
        )
        change.transaction.add_data_files(table, [file])
    assert rows_of(lake.table("t")) == [
        (1, "own", None, 1, 9),
        (2, "theirs", None, None, 9),
    ]
    assert lake.table("t").where("name = 'theirs'").count() == 1


def test_files_with_row_ids_and_snapshots_hide_rows_of_later_snapshots(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    early = snapshot(lake) + 1
    add_file(
        lake,
        "t",
        people(1, 2, 3),
        extra={
            "_ducklake_internal_row_id": [70, 80, 90],
            "_ducklake_internal_snapshot_id": [early, early, early + 1],
        },
        partial_file_info=f"partial_max:{early + 1}",
        row_ids=False,
    )
    add_file(lake, "t", people(4))
    virtual = ["rowid", "snapshot_id"]
    assert rows_of(lake.table("t", version=early, virtual=virtual).drop("name")) == [
        (1, 70, early),
        (2, 80, early),
    ]
    assert rows_of(lake.table("t", virtual=virtual).drop("name")) == [
        (1, 70, early),
        (2, 80, early),
        (3, 90, early + 1),
        (4, 0, early + 1),
    ]


def test_encrypted_files_are_read_with_their_keys(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", people(1))
    key, path = keys.new_key(), tmp_path / "secret.parquet"
    pq.write_table(
        pa.table({"id": [2], "name": ["n2"]}), path, encryption_properties=encryption(key)
    )
    size = path.stat().st_size

    def add(stored: str) -> None:
        with lake.changing(lake.attachment("lake")) as change:
            file = NewDataFile(str(path), 1, size, path_is_relative=False, encryption_key=stored)
            change.transaction.add_data_files(change.transaction.table("t"), [file])

    add(keys.wrap(key, None))
    assert rows_of(lake.table("t")) == pairs(1, 2)
    add(keys.wrap(key, keys.new_key()))
    with pytest.raises(Exception, match="no key-encryption key is set"):
        lake.table("t").collect()


def test_set_not_null_reads_files_whose_statistics_have_no_null_count(lake: Session) -> None:
    lake.create_table("t", [*COLUMNS, ColumnSpec("s", struct(x="int32"))])
    add_file(lake, "t", [{"id": 1, "name": None, "s": None}, {"id": 2, "name": "b", "s": {"x": 1}}])
    for path in files_on_disk(lake):
        path.rename(path.with_suffix(".away"))
    lake.set_not_null("t", "id")  # known from the metastore, without reading the file
    for path in Path(lake.attachment("lake").data_path).rglob("*.away"):
        path.rename(path.with_suffix(".parquet"))
    with pytest.raises(InvalidInput, match=r"has NULL values.*NOT NULL constraint"):
        lake.set_not_null("t", "name")
    lake.set_not_null("t", "s.x")
    state = lake.viewing(lake.attachment("lake")).state
    allowed = {
        column.column_name: column.nulls_allowed for column in state.columns(state.table("t"))
    }
    assert allowed == {"id": False, "name": True, "s": True}
    lake.set_not_null("t", "id", False)
