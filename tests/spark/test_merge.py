"""MERGE INTO: the first clause that applies, a single write, and the effect on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from forklake import ColumnSpec, Session
from forklake.engines.merge_clauses import MergeCounts
from forklake.errors import InvalidInput
from forklake.session.changing.merge_into import (
    MergeClause,
    when_matched,
    when_not_matched,
    when_not_matched_by_source,
)
from tests.spark.builders import add_file, insert, rows_of

COLUMNS = [
    ColumnSpec("id", "int64", nulls_allowed=False),
    ColumnSpec("v", "int32", default="7"),
    ColumnSpec("p", "varchar"),
]
SOURCE = "id long, v int, p string, op string"
ON = "target.id = source.id"


def some(*ids: int) -> list[dict[str, Any]]:
    """Return rows with a number, its tenfold and a letter."""
    return [{"id": one, "v": one * 10, "p": "ab"[one % 2]} for one in ids]


def snapshot(session: Session) -> int:
    """Return the newest snapshot."""
    return session.attachment("lake").catalog.current_snapshot()


def on_disk(session: Session) -> set[str]:
    """Return the names of all files."""
    root = Path(session.attachment("lake").data_path)
    return {path.name for path in root.rglob("*") if path.is_file()}


def shown(session: Session, name: str = "t") -> dict[int, tuple[Any, ...]]:
    """Return all rows by row id."""
    rows = session.table(name, virtual=["rowid"]).collect()
    found = {row["rowid"]: tuple(row)[:-1] for row in rows}
    assert len(found) == len(rows)
    return found


def source(session: Session, *rows: tuple[Any, ...]) -> DataFrame:
    """Return a DataFrame of source rows."""
    return session.engine.spark.createDataFrame(list(rows), SOURCE)


@pytest.fixture
def filled(lake: Session) -> Session:
    """Return a session with a table of two files with five rows each, and two inlined rows."""
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", some(0, 1, 2, 3, 4))
    add_file(lake, "t", some(5, 6, 7, 8, 9))
    insert(lake, "t", some(10, 11))
    return lake


def test_the_first_matching_clause_applies(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    model = shown(filled)
    rows = source(
        filled,
        (1, 1, "x", "D"),
        (2, 2, "x", "U"),
        (3, 3, "x", "keep"),
        (6, 6, "x", "U"),
        (10, 10, "x", "U"),
        (11, 11, "x", "D"),
        (20, 20, "x", "U"),
        (21, 21, "x", "D"),
        (22, 22, "x", "other"),
        (None, 1, "x", "U"),
    )
    clauses = [
        when_matched("source.op = 'D'").delete(),
        when_matched("source.op = 'keep'").do_nothing(),
        when_matched().update({"v": "source.v + target.v", "p": "concat(target.p, source.p)"}),
        when_not_matched("source.id IS NULL OR op = 'D'").do_nothing(),
        when_not_matched("source.op = 'other'").insert({"id": "source.id", "p": "'new'"}),
        when_not_matched().insert(),
    ]
    assert filled.merge("t", rows, ON, clauses) == MergeCounts(inserted=2, updated=3, deleted=2)
    found = shown(filled)
    added = sorted(row for rowid, row in found.items() if rowid > 11)
    assert added == [(20, 20, "x"), (22, 7, "new")]
    assert {rowid: row for rowid, row in found.items() if rowid <= 11} == {
        rowid: row for rowid, row in model.items() if rowid not in (1, 11)
    } | {2: (2, 22, "ax"), 6: (6, 66, "ax"), 10: (10, 110, "ax")}
    assert snapshot(filled) == started + 1
    # One file of rows, and a delete file for each of the two data files.
    new = on_disk(filled) - before
    assert sum("delete" in name for name in new) == 2
    assert len(new) == 3
    # The written rows can be merged again, by all kinds of clauses.
    again = [
        when_matched("target.id >= 20").update(),
        when_not_matched_by_source("id < 5").delete(),
        when_not_matched_by_source("id > 7").update({"v": "0"}),
    ]
    counts = filled.merge("t", source(filled, (20, 1, "y", ""), (5, 1, "y", "")), ON, again)
    assert counts == MergeCounts(inserted=0, updated=5, deleted=4)
    last = shown(filled)
    by_rowid = {rowid: row for rowid, row in last.items() if rowid <= 11}
    assert by_rowid == {
        5: (5, 50, "b"),
        6: (6, 66, "ax"),
        7: (7, 70, "b"),
        8: (8, 0, "a"),
        9: (9, 0, "b"),
        10: (10, 0, "ax"),
    }
    assert {rowid for rowid in found if rowid > 11} == {rowid for rowid in last if rowid > 11}
    assert sorted(row for rowid, row in last.items() if rowid > 11) == [
        (20, 1, "y"),
        (22, 0, "new"),
    ]


def test_merges_agree_with_duckdb(filled: Session) -> None:
    with duckdb.connect() as other:
        held = pa.Table.from_pylist(some(*range(12)))
        other.execute("CREATE TABLE t AS SELECT id, v::INT AS v, p FROM held")
        news = pa.Table.from_pylist([{"k": n, "w": n * n} for n in range(0, 30, 2)])
        assert held.num_rows == 12
        other.execute("CREATE TABLE s AS SELECT * FROM news")
        other.execute(
            "MERGE INTO t USING s ON t.id = s.k"
            " WHEN MATCHED AND t.v > 50 THEN DELETE"
            " WHEN MATCHED THEN UPDATE SET v = s.w"
            " WHEN NOT MATCHED BY SOURCE AND t.id > 6 THEN UPDATE SET p = NULL"
            " WHEN NOT MATCHED AND s.k < 20 THEN INSERT (id, v) VALUES (s.k, s.w)"
        )
        expected = other.execute("SELECT * FROM t ORDER BY ALL").fetchall()
    rows = filled.engine.spark.createDataFrame(news)
    clauses = [
        when_matched("t.v > 50").delete(),
        when_matched().update({"v": "s.w"}),
        when_not_matched_by_source("t.id > 6").update({"p": "NULL"}),
        when_not_matched("s.k < 20").insert({"id": "s.k", "v": "s.w", "p": "NULL"}),
    ]
    with filled.transaction():
        filled.merge("t", rows, "t.id = s.k", clauses, target_alias="t", source_alias="s")
        assert rows_of(filled.table("t")) == sorted(expected, key=repr)
    assert rows_of(filled.table("t")) == sorted(expected, key=repr)


def test_the_source_may_be_the_table_itself(filled: Session) -> None:
    clauses = [when_matched().update({"v": "source.v + 1"}), when_not_matched().insert()]
    mine = filled.table("t").where("id < 6")
    assert filled.merge("t", mine, "target.id = source.id + 3", clauses) == MergeCounts(0, 6, 0)
    assert [shown(filled)[one][1] for one in range(12)] == [
        *(0, 10, 20),
        *(1, 11, 21, 31, 41, 51),
        *(90, 100, 110),
    ]
    beyond = filled.table("t").selectExpr("id + 6 AS id", "v", "p")
    assert filled.merge("t", beyond, ON, [when_not_matched().insert()]) == MergeCounts(6, 0, 0)
    assert sorted(row[0] for row in shown(filled).values()) == list(range(18))


def test_few_rows_stay_in_the_metastore(filled: Session) -> None:
    filled.set_option("lake", "data_inlining_row_limit", 5, table="t")
    before, model = on_disk(filled), shown(filled)
    rows = source(filled, (1, 1, "x", ""), (10, 2, "x", ""), (50, 3, "x", ""))
    both = [when_matched().update(), when_not_matched().insert()]
    assert filled.merge("t", rows, ON, both) == MergeCounts(1, 2, 0)
    assert shown(filled) == model | {1: (1, 1, "x"), 10: (10, 2, "x"), 12: (50, 3, "x")}
    assert on_disk(filled) == before
    nothing = source(filled, (99, 1, "x", ""))
    started = snapshot(filled)
    assert filled.merge("t", nothing, ON, [when_matched().delete()]) == MergeCounts()
    assert snapshot(filled) == started


def test_a_target_row_changed_by_two_source_rows_is_an_error(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    model = shown(filled)
    for one in (2, 10):
        rows = source(filled, (one, 1, "x", "U"), (one, 2, "y", "U"), (60, 2, "y", "U"))
        for clause in (when_matched().update(), when_matched().delete()):
            with pytest.raises(InvalidInput, match="more than one row"):
                filled.merge("t", rows, ON, [clause, when_not_matched().insert()])
    assert (snapshot(filled), on_disk(filled), shown(filled)) == (started, before, model)
    # Only one of the two would change it; source rows may be inserted repeatedly.
    rows = source(filled, (2, 1, "x", "U"), (2, 2, "y", "N"), (60, 2, "y", "U"), (60, 3, "y", "U"))
    clauses = [when_matched("op = 'U'").update(), when_not_matched().insert()]
    assert filled.merge("t", rows, ON, clauses) == MergeCounts(2, 1, 0)
    assert shown(filled)[2] == (2, 1, "x")


def test_bad_merges_change_nothing(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    rows = source(filled, (1, 1, "x", "U"), (50, None, "x", "U"))
    bad: list[tuple[str, list[MergeClause], str]] = [
        (ON, [], "has no clause"),
        ("target.nosuch = source.id", [when_matched().delete()], "nosuch"),
        (ON, [when_matched("nosuch").delete()], "nosuch"),
        (ON, [when_matched().update({"nosuch": "1"})], "no column 'nosuch'"),
        (ON, [when_matched().update({"v": "p"})], "p"),
        (ON, [when_not_matched().insert({"v": "1"})], "NOT NULL constraint failed: t.id"),
        (ON, [when_not_matched().insert({"id": "1", "ID": "2"})], "set twice"),
        (ON, [when_matched().update({"v": "source.p"})], "cannot hold 'x'"),
        (ON, [when_not_matched_by_source().update()], "no source row"),
    ]
    for on, clauses, stated in bad:
        with pytest.raises(InvalidInput, match=stated):
            filled.merge("t", rows, on, clauses)
    with pytest.raises(InvalidInput, match="no column 'v'"):
        filled.merge("t", rows.drop("v"), ON, [when_not_matched().insert()])
    assert (snapshot(filled), on_disk(filled)) == (started, before)
