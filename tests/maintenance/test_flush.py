"""flush_inlined_data: moving inlined rows and deletes to files, without other visible changes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from forklake import ColumnSpec, Session, list_of, map_of, struct
from forklake.errors import Conflict
from forklake.maintenance import FlushResult, flush_inlined_data
from forklake.model.changes import Change, ChangeKind
from tests.maintenance.witness import (
    current_view,
    files,
    head,
    require_unchanged,
    rows_at,
    rows_with_ids,
    run_at_phase,
)

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("name", "varchar")]


def table_of(lake: Session, *columns: ColumnSpec, name: str = "t") -> None:
    """Create a table whose rows and deletes are inlined."""
    lake.set_option("lake", "data_inlining_row_limit", 100)
    lake.create_table(name, columns or COLUMNS)


def inlined(lake: Session, alias: str = "lake") -> tuple[int, int]:
    """Return the numbers of inlined rows and deletes."""
    now = current_view(lake, alias)
    table = now.state.table("t")
    return len(now.inlined_rows(table)), len(now.inlined_deletes(table))


def insert_into_file(lake: Session, *ids: int, name: str = "t") -> None:
    """Insert rows into a file, however few they are."""
    lake.set_option("lake", "data_inlining_row_limit", 0)
    lake.insert(name, [(one, f"n{one}") for one in ids])
    lake.set_option("lake", "data_inlining_row_limit", 100)


def test_rows_and_deletes_go_to_files(lake: Session) -> None:
    table_of(lake)
    insert_into_file(lake, *range(5))
    lake.insert("t", [(10, "a"), (11, "b"), (12, "c")])
    lake.update("t", {"name": "'B'"}, "id = 11")
    lake.delete("t", "id IN (12, 0)")
    lake.update("t", {"name": "'new'"}, "id = 1")
    lake.insert("t", [(13, "d")])
    assert inlined(lake) == (4, 2)
    with require_unchanged(lake):
        done = flush_inlined_data(lake, "lake", table_name="t")
    assert done == [FlushResult("main", "t", 4, 2)]
    assert inlined(lake) == (0, 0)
    assert lake.snapshots("lake")[-1].changes == (
        Change(ChangeKind.FLUSHED, files(lake)[0].file.table_id),
    )
    old, new = files(lake)
    assert (old.delete_file is not None, old.deleted_rows, new.has_deletes) == (True, 2, False)
    assert new.file.row_id_start is None
    assert rows_with_ids(lake) == rows_at(current_view(lake))
    assert flush_inlined_data(lake, "lake") == []
    lake.insert("t", [(14, "e")])
    inserted = head(lake)
    lake.delete("t", "id = 2")
    with require_unchanged(lake):
        assert flush_inlined_data(lake, "lake", "main") == [FlushResult("main", "t", 1, 1)]
    assert [file.deleted_rows for file in files(lake)] == [3, 0, 0]
    assert (14, "e", 9, inserted) in rows_with_ids(lake)


def test_files_are_partitioned_and_sorted_and_hold_all_types(lake: Session) -> None:
    table_of(
        lake,
        ColumnSpec("k", "int8"),
        ColumnSpec("d", "date"),
        ColumnSpec("n", struct(x="decimal(9,2)", y=list_of("varchar"))),
        ColumnSpec("m", map_of("varchar", "int64")),
    )
    lake.insert("t", [(3, date(2024, 5, 1), {"x": Decimal("1.25"), "y": ["a"]}, {"a": 1})])
    lake.rename_column("t", "n.x", "z")
    lake.set_column_type("t", "k", "float32")
    lake.set_partitioning("t", ["year(d)"])
    lake.set_sorted_by("t", ["k DESC"])
    year = date(2024, 1, 1)
    lake.insert("t", [(None, year, None, None), (7, year, {"z": None, "y": []}, {})])
    lake.insert("t", [(1, date(2025, 1, 1), None, {"b": None})])
    expected = rows_with_ids(lake)
    with require_unchanged(lake):
        (done,) = flush_inlined_data(lake, "lake")
    assert done.rows_flushed == 4
    assert rows_with_ids(lake) == expected
    found = {file.path.split("/")[-2]: file for file in files(lake)}
    assert sorted(found) == ["year=2024", "year=2025"]
    stored = pq.read_table(found["year=2024"].path, partitioning=None)
    assert stored["k"].to_pylist() == [7.0, 3.0, None]
    assert lake.table("t", where="d >= '2025-01-01'").count() == 1


def test_only_the_requested_tables_are_flushed(lake: Session) -> None:
    table_of(lake)
    lake.create_schema("s")
    lake.create_table("s.t", COLUMNS)
    for name in ("t", "s.t"):
        lake.insert(name, [(1, "a")])
    lake.set_option("lake", "auto_compact", False, table="t")
    assert flush_inlined_data(lake, "lake", table_name="t") == []
    assert flush_inlined_data(lake, "lake") == [FlushResult("s", "t", 1)]
    lake.set_option("lake", "auto_compact", None, table="t")
    assert flush_inlined_data(lake, "lake", "s") == []
    assert flush_inlined_data(lake, "lake", "main", "t") == [FlushResult("main", "t", 1)]


def test_a_fork_flushes_inherited_rows(lake: Session) -> None:
    table_of(lake)
    insert_into_file(lake, 0, 1, 2)
    lake.insert("t", [(3, "a"), (4, "b")])
    lake.delete("t", "id = 1")
    lake.fork("lake", "child", attach_as="child")
    lake.insert("child.main.t", [(5, "c")])
    lake.delete("child.main.t", "id IN (2, 3)")
    assert inlined(lake, "child") == (2, 2)
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        assert flush_inlined_data(lake, "child") == [FlushResult("main", "t", 2, 2)]
    assert (inlined(lake), inlined(lake, "child")) == ((2, 1), (0, 0))
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        flush_inlined_data(lake, "lake")
    assert [row[0] for row in rows_with_ids(lake, "child.main.t")] == [0, 4, 5]


def test_no_change_is_lost_to_a_flush_in_either_order(lake: Session) -> None:
    table_of(lake)
    insert_into_file(lake, *range(5))
    lake.insert("t", [(10, "a"), (11, "b")])
    lake.delete("t", "id = 0")
    other = lake.cursor()
    changes = [
        lambda: other.delete("t", "id = 10"),
        lambda: other.delete("t", "id = 3"),
        lambda: other.update("t", {"name": "'B'"}, "id = 11"),
    ]
    for change in changes:
        with run_at_phase("write.files", change):
            assert flush_inlined_data(lake, "lake") == [
                FlushResult("main", "t", 0, was_skipped=True)
            ]
    with run_at_phase("write.files", lambda: other.insert("t", [(12, "c")])):
        assert flush_inlined_data(lake, "lake") == [FlushResult("main", "t", 1, 2)]
    assert [row[:2] for row in rows_at(current_view(lake))] == [
        (1, "n1"),
        (11, "B"),
        (12, "c"),
        (2, "n2"),
        (4, "n4"),
    ]
    for condition in ("id = 12", "id = 2"):
        with (
            run_at_phase("commit.begun", lambda: flush_inlined_data(other, "lake")) as done,
            pytest.raises(Conflict, match="flushed inlined rows"),
        ):
            lake.delete("t", condition)
        assert done != [[]]
        assert lake.delete("t", condition) == 1
        lake.insert("t", [(13, "d")])
    assert len(rows_with_ids(lake)) == 5
