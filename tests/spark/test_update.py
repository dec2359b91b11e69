"""UPDATE: new values under the same row ids, and the effect on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812

from forklake import ColumnSpec, Session, connect, list_of, struct
from forklake.engines.spark.changing import removal
from forklake.engines.spark.engine import Engine
from forklake.errors import Conflict, InvalidInput
from forklake.model.files import ROW_ID
from forklake.model.scans import ScanFile
from tests.spark.builders import add_file, insert, rows_of

COLUMNS = [
    ColumnSpec("id", "int64", nulls_allowed=False),
    ColumnSpec("v", "int32", default="7"),
    ColumnSpec("p", "varchar"),
]


def some(*ids: int) -> list[dict[str, Any]]:
    """Return rows with a number, its tenfold and a letter."""
    return [{"id": one, "v": one * 10, "p": "ab"[one % 2]} for one in ids]


def files(session: Session, alias: str = "lake") -> list[ScanFile]:
    """Return the files of the table, with their deletes."""
    view = session.viewing(session.attachment(alias))
    return view.scan_files(view.state.table("t"))


def inlined(session: Session) -> int:
    """Return the number of inlined rows."""
    view = session.viewing(session.attachment("lake"))
    return len(view.inlined_rows(view.state.table("t")))


def snapshot(session: Session) -> int:
    """Return the newest snapshot."""
    return session.attachment("lake").catalog.current_snapshot()


def on_disk(session: Session) -> set[str]:
    """Return the names of all files."""
    root = Path(session.attachment("lake").data_path)
    return {path.name for path in root.rglob("*") if path.is_file()}


def shown(session: Session, name: str = "t", **when: Any) -> dict[int, tuple[Any, ...]]:
    """Return all rows by row id."""
    rows = session.table(name, virtual=["rowid"], **when).collect()
    found = {row["rowid"]: tuple(row)[:-1] for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture
def filled(lake: Session) -> Session:
    """Return a session with a table of two files with five rows each, and two inlined rows."""
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", some(0, 1, 2, 3, 4))
    add_file(lake, "t", some(5, 6, 7, 8, 9))
    insert(lake, "t", some(10, 11))
    return lake


def test_rows_keep_their_ids_through_several_updates(filled: Session) -> None:
    started = snapshot(filled)
    old = shown(filled)
    assert sorted(old) == list(range(12))
    assert old == {one: (one, one * 10, "ab"[one % 2]) for one in range(12)}
    model = dict(old)

    def changed(condition: str, assignments: dict[str, str], rows: dict[int, Any]) -> None:
        assert filled.update("t", assignments, condition) == len(rows)
        model.update(rows)
        assert shown(filled) == model

    # All expressions see the old values.
    changed(
        "id IN (1, 2, 6, 10)",
        {"id": "v", "v": "CAST(id AS INT) + 1"},
        {one: (one * 10, one + 1, "ab"[one % 2]) for one in (1, 2, 6, 10)},
    )
    assert inlined(filled) == 1
    *_, new = files(filled)
    assert new.file.row_id_start is None
    assert sorted(pq.read_table(new.path)[ROW_ID].to_pylist()) == [1, 2, 6, 10]
    assert [one.delete_file.delete_count for one in files(filled) if one.delete_file] == [2, 1]
    # Rows that were updated before, and rows that were not.
    changed(
        "id >= 9 AND id <= 20",
        {"v": "v * 2", "p": "'z'"},
        {1: (10, 4, "z"), 2: (20, 6, "z"), 9: (9, 180, "z"), 11: (11, 220, "z")},
    )
    changed(
        "p = 'z' AND id < 12",
        {"v": "NULL"},
        {1: (10, None, "z"), 9: (9, None, "z"), 11: (11, None, "z")},
    )
    changed("v IS NULL AND id = 9", {"v": "DEFAULT"}, {9: (9, 7, "z")})
    assert inlined(filled) == 0
    assert shown(filled, version=started) == old
    assert filled.delete("t", "rowid IN (1, 9)") == 2
    assert sorted(shown(filled)) == [0, 2, 3, 4, 5, 6, 7, 8, 10, 11]
    # New rows get unused ids.
    insert(filled, "t", some(99))
    assert shown(filled)[12] == (99, 990, "b")


def test_few_updated_rows_are_kept_in_the_metastore(filled: Session) -> None:
    filled.set_option("lake", "data_inlining_row_limit", 3, table="t")
    before = on_disk(filled)
    model = shown(filled)
    assert filled.update("t", {"v": "v + 1"}, "id IN (1, 7, 10)") == 3
    model |= {1: (1, 11, "b"), 7: (7, 71, "b"), 10: (10, 101, "a")}
    assert (shown(filled), inlined(filled)) == (model, 4)
    assert [one.deleted_positions for one in files(filled)] == [(1,), (2,)]
    assert filled.update("t", {"v": "v + 1"}, "id IN (1, 2)") == 2
    model |= {1: (1, 12, "b"), 2: (2, 21, "a")}
    assert shown(filled) == model
    with filled.transaction():
        filled.update("t", {"v": "v + 1"}, "id = 3")
        filled.update("t", {"v": "v + 1"}, "id IN (3, 11)")
        filled.delete("t", "id = 1")
    model |= {3: (3, 32, "b"), 11: (11, 111, "b")}
    del model[1]
    assert shown(filled) == model
    assert on_disk(filled) == before
    assert filled.update("t", {"v": "0"}, "id < 8") == 7  # too many to stay in the metastore
    assert shown(filled) == model | {one: (one, 0, "ab"[one % 2]) for one in range(8) if one != 1}
    assert inlined(filled) == 2


def test_statements_of_a_transaction_see_earlier_ones(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    model = shown(filled)

    def work() -> None:
        add_file(filled, "t", some(20, 21, 22))
        insert(filled, "t", some(23))
        assert filled.update("t", {"v": "v + 1"}, "id IN (0, 20, 21, 23, 10)") == 5
        assert filled.delete("t", "id IN (21, 5)") == 2
        assert filled.update("t", {"v": "v + 1"}, "id IN (0, 6, 20, 22)") == 4
        assert filled.update("t", {"p": "'q'"}, "v = 202") == 1

    filled.begin()
    work()
    expected = {row[0]: row for row in model.values() if row[0] not in (0, 5, 6, 10)} | {
        0: (0, 2, "a"),
        6: (6, 61, "a"),
        10: (10, 101, "a"),
        20: (20, 202, "q"),
        22: (22, 221, "a"),
        23: (23, 231, "b"),
    }
    assert {row[0]: row for row in shown(filled).values()} == expected
    filled.rollback()
    assert (shown(filled), on_disk(filled)) == (model, before)
    with filled.transaction():
        work()
    assert snapshot(filled) == started + 1
    final = shown(filled)
    assert {row[0]: row for row in final.values()} == expected
    # Old rows keep their ids, and new rows have small ids.
    assert {rowid for rowid, row in final.items() if row[0] < 20} == set(range(12)) - {5}
    assert all(rowid < 100 for rowid in final)


def test_a_table_can_be_changed_in_the_transaction_that_creates_it(lake: Session) -> None:
    with lake.transaction():
        lake.create_table("t", COLUMNS)
        add_file(lake, "t", some(0, 1, 2, 3, 4))
        insert(lake, "t", some(5, 6))
        assert lake.update("t", {"v": "v + 1"}, "id IN (1, 2, 5)") == 3
        assert lake.delete("t", "id IN (0, 2, 6)") == 3
        assert lake.update("t", {"p": "'q'"}, "id <= 3") == 2
        expected = [(1, 11, "q"), (3, 30, "q"), (4, 40, "a"), (5, 51, "b")]
        assert sorted(shown(lake).values()) == expected
    assert sorted(shown(lake).values()) == expected
    assert all(rowid < 100 for rowid in shown(lake))


def test_values_come_from_a_join_in_which_no_row_matches_twice(filled: Session) -> None:
    spark = filled.engine.spark
    news = spark.createDataFrame([(1, 5), (6, 6), (10, 7), (77, 8)], "id int, v int")
    on = "target.id = source.id"
    count = filled.update("t", {"v": "source.v + target.v"}, "target.id < 10", source=news, on=on)
    assert count == 2
    changed = {one: row[1] for one, row in shown(filled).items() if row[1] != one * 10}
    assert changed == {1: 15, 6: 66}
    started, before = snapshot(filled), on_disk(filled)
    twice = spark.createDataFrame([(1, 5), (2, 6), (1, 7)], "id int, v int")
    inlined_twice = spark.createDataFrame([(10, 5), (10, 6)], "id int, v int")
    for rows in (twice, inlined_twice):
        with pytest.raises(InvalidInput, match="more than one row"):
            filled.update("t", {"v": "source.v"}, source=rows, on=on)
    assert (snapshot(filled), on_disk(filled)) == (started, before)
    itself = filled.table("t").groupBy("p").agg(F.max("id").alias("top"))
    assert (
        filled.update(
            "t",
            {"v": F.col("s.top")},
            "t.id > 8",
            source=itself,
            on="t.p = s.p",
            target_alias="t",
            source_alias="s",
        )
        == 3
    )
    assert [shown(filled)[one][1] for one in (8, 9, 10, 11)] == [80, 11, 10, 11]


def test_updated_rows_move_to_the_partitions_of_their_new_values(lake: Session) -> None:
    lake.create_table("t", COLUMNS, partition_by=["p"])
    rows = lake.engine.spark.createDataFrame(
        [tuple(row.values()) for row in some(*range(8))], "id long, v int, p string"
    )
    lake.write(rows, "t")
    assert lake.update("t", {"p": "CASE WHEN id < 2 THEN 'c' ELSE 'a' END"}, "id IN (1, 2, 3)") == 3
    assert sorted(row[:1] + row[2:] for row in shown(lake).values()) == [
        (0, "a"),
        (1, "c"),
        (2, "a"),
        (3, "a"),
        (4, "a"),
        (5, "b"),
        (6, "a"),
        (7, "b"),
    ]
    assert [one for one in files(lake) if "/p=c/" in one.path]
    assert rows_of(lake.table("t", where="p = 'c'").select("id")) == [(1,)]
    assert lake.update("t", {"v": "1"}, "p = 'b'") == 2  # all rows of a file
    assert rows_of(lake.table("t", where="p = 'b'").select("id", "v")) == [(5, 1), (7, 1)]
    assert not [one for one in files(lake) if "/p=b/" in one.path and one.delete_file]


def test_fields_inside_structs_can_be_set(lake: Session) -> None:
    inner = struct(x="int32", deep=struct(y="varchar"))
    lake.create_table(
        "t", [ColumnSpec("id", "int32"), ColumnSpec("s", inner), ColumnSpec("l", list_of("int32"))]
    )
    insert(
        lake,
        "t",
        [
            {"id": 1, "s": {"x": 1, "deep": {"y": "a"}}, "l": [1]},
            {"id": 2, "s": None, "l": None},
        ],
    )
    assert lake.update("t", {"s.x": "s.x + 1", "s.deep.y": "concat(s.deep.y, '!')"}) == 2
    assert lake.update("t", {"s.deep": "named_struct('y', 5)", "L": "array(id, 3)"}, "id = 2") == 1
    rows = lake.table("t").orderBy("id").selectExpr("s.x", "s.deep.y", "l")
    assert [tuple(row) for row in rows.collect()] == [(2, "a!", [1]), (None, "5", [2, 3])]


def test_a_fork_updates_rows_of_its_parent(filled: Session) -> None:
    old = shown(filled)
    filled.fork("lake", "fork", attach_as="fork")
    assert filled.update("fork.t", {"v": "-1"}, "id IN (2, 9, 10)") == 3
    assert filled.update("fork.t", {"v": "-2"}, "id IN (2, 11)") == 2
    assert shown(filled, "fork.t") == old | {
        2: (2, -2, "a"),
        9: (9, -1, "b"),
        10: (10, -1, "a"),
        11: (11, -2, "b"),
    }
    assert shown(filled) == old


def test_very_many_rows_are_updated_by_executors(
    filled: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "MOST_POSITIONS", 5)
    model = shown(filled)
    assert filled.update("t", {"v": "1"}, "id BETWEEN 3 AND 10") == 8
    assert shown(filled) == model | {one: (one, 1, "ab"[one % 2]) for one in range(3, 11)}
    twice = filled.engine.spark.range(24).selectExpr("id % 12 AS id")
    with pytest.raises(InvalidInput, match="more than one row"):
        filled.update("t", {"v": "1"}, source=twice, on="target.id = source.id")


def test_bad_updates_change_nothing(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    bad: list[tuple[dict[str, str], str]] = [
        ({"id": "NULL"}, "NOT NULL constraint failed: t.id"),
        ({"id": "NULLIF(id, 3)"}, "NOT NULL constraint failed: t.id"),
        ({"v": "3000000000"}, "Column 't.v' of type int32 cannot hold"),
        ({"v": "'x'"}, "Column 't.v' of type int32 cannot hold 'x'"),
        ({"v": "1 / (id - 3)"}, "could not be computed"),
        ({"nosuch": "1"}, "no column 'nosuch'"),
        ({"v.x": "1"}, "no column 'v.x'"),
        ({"v": "nosuch"}, "nosuch"),
        ({"v": "1 +"}, "cannot be used"),
        ({"v": "1", "V": "2"}, "set twice"),
        ({}, "sets no column"),
    ]
    for assignments, stated in bad:
        with pytest.raises(InvalidInput, match=stated):
            filled.update("t", assignments, "id < 8")
    with pytest.raises(InvalidInput, match="no source to join"):
        filled.update("t", {"v": "1"}, on="true")
    assert filled.update("t", {"id": "NULL"}, "id = 77") == 0  # this row does not exist
    assert (snapshot(filled), on_disk(filled)) == (started, before)
    other = filled.cursor()
    filled.begin()
    filled.update("t", {"v": "1"}, "id < 3")
    other.update("t", {"v": "2"}, "id = 4")
    other.close()
    with pytest.raises(Conflict):
        filled.commit()
    assert shown(filled)[1] == (1, 10, "b")
    assert len(on_disk(filled)) == len(before) + 2


def test_inlined_rows_are_changed_without_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [*COLUMNS, ColumnSpec("b", "boolean")]
    model = {
        one: [one, None if one % 3 == 0 else one % 4, "ab"[one % 2], [None, True, False][one % 3]]
        for one in range(12)
    }

    def no_spark(*_: object) -> None:
        raise AssertionError("Spark is not needed")

    monkeypatch.setattr(Engine, "start", no_spark)
    with connect() as session:
        session.attach(
            f"ducklake:{tmp_path / 'm.db'}",
            "lake",
            catalog="c",
            create_if_not_exists=True,
            data_inlining_row_limit=20,
        )
        session.use("lake")
        session.create_table("t", columns)
        names = [column.name for column in columns]
        insert(session, "t", [dict(zip(names, row, strict=True)) for row in model.values()])
        # Each condition with its meaning in Python, null as None.
        conditions: list[tuple[str, Any]] = [
            ("id = 3", lambda id, v, p, b: id == 3),
            ("v <> 2", lambda id, v, p, b: v is not None and v != 2),
            ("NOT (v > 1 OR p = 'a')", lambda id, v, p, b: v is not None and v <= 1 and p != "a"),
            ("v IS NULL AND id BETWEEN 1 AND -(-7)", None),
            (
                "v IS NOT NULL AND target.id BETWEEN 1 AND 7",
                lambda id, v, p, b: v is not None and 1 <= id <= 7,
            ),
            ("id NOT IN (1, NULL)", lambda id, v, p, b: False),
            ("id IN (1, 2, NULL) OR b", lambda id, v, p, b: id in (1, 2) or b is True),
            ("'b' <= p AND NULL = 1", lambda id, v, p, b: False),
        ]
        for number, (condition, holds) in enumerate(conditions):
            if holds is None:
                with pytest.raises(AssertionError, match="not needed"):
                    session.update("t", {"v": "1"}, condition)
                continue
            wanted = [row for row in model.values() if holds(*row)]
            changes = {"v": str(number - 4), "p": f"'p{number}'"}
            assert session.update("t", changes, condition) == len(wanted), condition
            for row in wanted:
                row[1:3] = [number - 4, f"p{number}"]
        assert session.delete("t", "id >= 8 AND NOT b") == 2
        assert session.update("t", {"id": "NULL"}, "id = 77") == 0
        with pytest.raises(InvalidInput, match="NOT NULL constraint failed"):
            session.update("t", {"id": "NULL"}, "id = 1")
        with pytest.raises(InvalidInput, match="not a value of type int32"):
            session.update("t", {"v": "3000000000"}, "id = 1")
        view = session.viewing(session.attachment("lake"))
        found = {
            row.row_id: list(row.values.values())
            for row in view.inlined_rows(view.state.table("t"))
        }
        assert found == {one: row for one, row in model.items() if one not in (8, 11)}
