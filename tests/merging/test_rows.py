"""Merges row by row: changes of one side are taken, changes of both are reported as conflicts."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.catalog.expiry import expire_snapshots
from forklake.errors import Conflict, NotFound
from forklake.maintenance import flush_inlined_data, merge_adjacent_files, rewrite_data_files
from forklake.merging import diff, merge_fork
from forklake.model.requests import MergeRequest
from tests.merging.fix_sides import COLUMNS, Sides, conflicting_rows

TABLES = {"in_files": 0, "inlined": 1000}


def test_changes_of_both_sides_are_merged_repeatedly(lake: Session) -> None:
    sides = Sides.of(lake, tables=TABLES)
    for table in TABLES:
        sides.insert("fork", table, [100, 101, 102], "new")
        lake.update(f"fork.{table}", {"v": "'forked'"}, "k IN (1, 101)")
        lake.delete(f"fork.{table}", "k IN (2, 102)")
        sides.insert("lake", table, [200, 201], "own")
        lake.update(f"lake.{table}", {"v": "'ours'"}, "k IN (3, 200)")
        lake.delete(f"lake.{table}", "k IN (2, 4)")
    merged = sides.merge()
    # A row that was added and then changed is new; one that both deleted needs no change.
    for listed in merged.tables:
        assert (listed.appended_rows, listed.updated, listed.deleted) == (2, 1, 0)
        assert listed.conflict_count == 0
    expected = {0: "base", 1: "forked", 3: "ours", 5: "base", 6: "base", 7: "base"}
    expected |= {100: "new", 101: "forked", 200: "ours", 201: "own"}
    for table in TABLES:
        assert sides.rows("lake", table) == expected
    # Merge in the other direction; afterwards both sides are equal.
    back = sides.merge(back=True)
    for reported in back.tables:
        assert (reported.appended_rows, reported.updated) == (2, 1)
    for table in TABLES:
        assert sides.rows("fork", table) == expected
    assert sides.merge().snapshot_id is None
    assert sides.merge(back=True).snapshot_id is None
    assert not diff(lake, sides.metastore, "sales", "agent").tables
    # Merged rows have other ids in the target, and are still recognized.
    for table in TABLES:
        lake.update(f"fork.{table}", {"v": "'again'"}, "k IN (101, 200)")
        lake.delete(f"lake.{table}", "k = 201")
    sides.merge()
    sides.merge(back=True)
    expected |= {101: "again", 200: "again"}
    del expected[201]
    for table in TABLES:
        assert sides.rows("lake", table) == sides.rows("fork", table) == expected


def test_rows_changed_on_both_sides_are_listed_and_not_overwritten(lake: Session) -> None:
    sides = Sides.of(lake, tables=TABLES)
    for table in TABLES:
        lake.update(f"fork.{table}", {"v": "'theirs'"}, "k IN (1, 2)")
        lake.delete(f"fork.{table}", "k IN (3, 4)")
        lake.update(f"lake.{table}", {"v": "'ours'"}, "k IN (1, 3)")
        lake.delete(f"lake.{table}", "k IN (2, 4)")
    before = lake.attachment("lake").catalog.current_snapshot()
    with pytest.raises(Conflict) as caught:
        sides.merge()
    did = {("changed", "changed"), ("changed", "removed"), ("removed", "changed")}
    expected = {(f"main.{table}", *pair) for table in TABLES for pair in did}
    assert conflicting_rows(caught.value) == expected
    assert lake.attachment("lake").catalog.current_snapshot() == before
    reported = next(one for one in sides.merge(dry_run=True).tables if one.table == "main.in_files")
    assert reported.conflict_count == 3
    first = reported.conflicts[0]
    assert (first.row_id, first.source_row, first.target_row) == (
        1,
        '{"k":1,"v":"theirs"}',
        '{"k":1,"v":"ours"}',
    )
    merge_fork(
        lake,
        sides.metastore,
        MergeRequest("agent", on_conflict={"in_files": "theirs", "main.inlined": "ours"}),
    )
    kept = dict.fromkeys((0, 5, 6, 7), "base")
    assert sides.rows("lake", "in_files") == kept | {1: "theirs", 2: "theirs"}
    assert sides.rows("lake", "inlined") == kept | {1: "ours", 3: "ours"}
    # A resolved conflict is resolved for both sides.
    sides.merge(back=True)
    for table in TABLES:
        assert sides.rows("fork", table) == sides.rows("lake", table)


def test_compaction_is_not_a_change(lake: Session) -> None:
    sides = Sides.of(lake, tables={"in_files": 0, "inlined": 1000}, rows=4)
    for side in ("lake", "fork"):
        for number in range(2):
            sides.insert(side, "in_files", [10 * (1 + number) + (side == "fork")], side)
        sides.insert(side, "inlined", [10 + (side == "fork")], side)
        lake.delete(f"{side}.in_files", "k = 0")
        merge_adjacent_files(lake, side)
        rewrite_data_files(lake, side, delete_threshold=0.0)
        flush_inlined_data(lake, side)
    merged = sides.merge()
    assert {one.table: (one.appended_rows, one.updated, one.deleted) for one in merged.tables} == {
        "main.in_files": (2, 0, 0),
        "main.inlined": (1, 0, 0),
    }
    sides.merge(back=True)
    for side in ("lake", "fork"):
        assert sides.rows(side, "in_files").keys() == {1, 2, 3, 10, 11, 20, 21}
        assert sides.rows(side, "inlined").keys() == {0, 1, 2, 3, 10, 11}
    assert sides.merge().snapshot_id is None


def test_rows_are_merged_into_tables_with_added_columns(lake: Session) -> None:
    sides = Sides.of(lake, tables={"in_files": 0}, rows=3)
    lake.update("fork.in_files", {"v": "'forked'"}, "k = 1")
    sides.insert("fork", "in_files", [9], "new")
    lake.rename_column("fork.in_files", "v", "value")
    lake.add_column("lake.in_files", "extra", "int32", default="5")
    lake.set_column_type("lake.in_files", "k", "int64")
    sides.merge()
    found = lake.table("lake.in_files").orderBy("k").collect()
    assert [tuple(row) for row in found] == [
        (0, "base", 5),
        (1, "forked", 5),
        (2, "base", 5),
        (9, "new", 5),
    ]
    assert found[0].__fields__ == ["k", "value", "extra"]
    seen = lake.attachment("lake").catalog.now()
    assert len(seen.data_files(seen.state.table("in_files"))) == 2  # rewritten with the new type


def test_overwritten_tables_are_merged_by_files(lake: Session) -> None:
    sides = Sides.of(lake, tables={"in_files": 0}, rows=3)
    lake.write(lake.table("fork.in_files").where("k > 0"), "fork.in_files", mode="overwrite")
    merged = sides.merge()
    (reported,) = merged.tables
    assert (reported.appended_rows, reported.appended_files, reported.deleted) == (2, 1, 3)
    assert sides.rows("lake", "in_files") == {1: "base", 2: "base"}


def test_a_new_table_that_was_compacted_is_new_to_the_target(lake: Session) -> None:
    sides = Sides.of(lake, tables={})
    lake.create_table("fork.t", COLUMNS)
    for key in range(4):
        sides.insert("fork", "t", [key], "forked")
    merge_adjacent_files(lake, "fork")
    (reported,) = sides.merge().tables
    assert reported.appended_rows == 4
    sales = lake.attachment("lake").catalog
    # All rows were merged in one snapshot, whenever the fork inserted them.
    merged = sales.current_snapshot()
    assert lake.table_changes("lake.t", merged, merged).count() == 4
    lake.delete("lake.t", "k = 0")
    lake.update("fork.t", {"v": "'again'"}, "k = 1")
    (reported,) = sides.merge(back=True).tables
    assert (reported.appended_rows, reported.updated, reported.deleted) == (0, 0, 1)
    sides.merge()
    expected = {1: "again", 2: "forked", 3: "forked"}
    assert sides.rows("lake", "t") == sides.rows("fork", "t") == expected


def test_rows_with_expired_history_are_not_overwritten(lake: Session) -> None:
    sides = Sides.of(lake, tables={"in_files": 0}, rows=3)
    lake.delete("lake.in_files", "k = 1")
    sales = lake.attachment("lake").catalog
    removal = sales.current_snapshot()
    sides.insert("fork", "in_files", [9], "new")
    sides.merge()
    lake.update("fork.in_files", {"v": "'forked'"}, "k = 1")
    expire_snapshots(sales, versions=[removal])
    # Whether the row existed before the first merge cannot be determined any more.
    with pytest.raises(NotFound, match=r"'sales' has expired"):
        sides.merge()
    assert sides.rows("lake", "in_files") == {0: "base", 2: "base", 9: "new"}


def test_differences_are_found_by_row_id_or_by_content(lake: Session) -> None:
    sides = Sides.of(lake, tables=TABLES, rows=4)
    for table in TABLES:
        lake.update(f"fork.{table}", {"v": "'forked'"}, "k = 1")
        lake.delete(f"fork.{table}", "k = 2")
        sides.insert("fork", table, [9], "new")
        sides.insert("lake", table, [8], "own")
    found = diff(lake, sides.metastore, "sales", "agent", rows=True)
    assert found.is_by_row_id
    for reported in found.tables:
        assert (reported.added, reported.removed, reported.changed) == (1, 2, 1)
        shown = {(one.did, one.before, one.after) for one in reported.rows}
        assert ("changed", '{"k":1,"v":"base"}', '{"k":1,"v":"forked"}') in shown
        assert ("added", None, '{"k":9,"v":"new"}') in shown
    # Of an unrelated catalog: rows are equal if their values are.
    sides.metastore.create_catalog("other", data_path=lake.attachment("lake").data_path)
    lake.attach(lake.attachment("lake").uri, "other", catalog="other")
    for name in TABLES:
        lake.write(lake.table(f"lake.{name}"), f"other.{name}", mode="error")
    assert diff(lake, sides.metastore, "sales", "other").is_empty
    lake.update("other.inlined", {"v": "'x'"}, "k = 0")
    (reported,) = diff(lake, sides.metastore, "sales", "other").tables
    assert (reported.table, reported.added, reported.removed, reported.changed) == (
        "main.inlined",
        1,
        1,
        0,
    )
