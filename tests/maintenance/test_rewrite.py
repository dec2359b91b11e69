"""rewrite_data_files: files without their deleted rows, without other visible changes."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from forklake import ColumnSpec, Session
from forklake.errors import Conflict, InvalidInput
from forklake.maintenance import CompactionResult, rewrite_data_files
from forklake.model.changes import Change, ChangeKind
from tests.maintenance.witness import (
    current_view,
    files,
    require_unchanged,
    rows_at,
    rows_with_ids,
    run_at_phase,
)

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("p", "int32")]


def table_of(lake: Session, count: int, rows: int) -> None:
    """Create a table with `count` files of so many rows each."""
    lake.create_table("t", COLUMNS)
    set_inlining_limit(lake, 0)
    for file in range(count):
        lake.insert("t", [(file * rows + row, file % 2) for row in range(rows)])


def set_inlining_limit(lake: Session, limit: int) -> None:
    """Set how many rows and deletes are inlined."""
    lake.set_option("lake", "data_inlining_row_limit", limit)


def delete(lake: Session, file: int, *positions: int) -> None:
    """Delete rows of a file, in the metastore."""
    with lake.changing(lake.attachment("lake")) as change:
        table = change.transaction.table("t")
        found = change.transaction.data_files(table)[file]
        change.transaction.delete_positions(table, found, positions)


def test_deletes_count_in_delete_files_and_in_the_metastore(lake: Session) -> None:
    table_of(lake, 4, 10)
    lake.delete("t", "id IN (0, 1, 10)")  # delete files for the first two files
    delete(lake, 0, 5)
    delete(lake, 2, 1, 2)
    counts = [file.deleted_rows for file in files(lake)]
    assert counts == [3, 1, 2, 0]
    with require_unchanged(lake):
        assert rewrite_data_files(lake, "lake", delete_threshold=0.3) == [
            CompactionResult("main", "t", 1, 1)
        ]
    assert [file.deleted_rows for file in files(lake)] == [1, 2, 0, 0]
    assert lake.snapshots("lake")[-1].changes == (
        Change(ChangeKind.REWRITTEN, files(lake)[0].file.table_id),
    )
    lake.set_option("lake", "rewrite_delete_threshold", 0.2)
    with require_unchanged(lake):
        assert rewrite_data_files(lake, "lake", "t") == [CompactionResult("main", "t", 1, 1)]
        assert rewrite_data_files(lake, "lake", "t") == []
        lake.set_option("lake", "auto_compact", False, table="t")
        assert rewrite_data_files(lake, "lake", "t", delete_threshold=0) == []
        lake.set_option("lake", "auto_compact", True, table="t")
        assert rewrite_data_files(lake, "lake", "t", delete_threshold=0)[0].files_created == 1
    assert not any(file.has_deletes for file in files(lake))
    assert rows_with_ids(lake) == rows_at(current_view(lake))
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        rewrite_data_files(lake, "lake", delete_threshold=1.5)


def test_a_completely_deleted_file_is_ended_without_a_new_one(lake: Session) -> None:
    table_of(lake, 2, 3)
    delete(lake, 0, 0, 1, 2)
    with require_unchanged(lake):
        assert rewrite_data_files(lake, "lake") == [CompactionResult("main", "t", 1, 0)]
    assert len(files(lake)) == 1


def test_large_files_are_split_and_small_ones_combined(lake: Session) -> None:
    table_of(lake, 4, 2)
    lake.set_partitioning("t", ["p"])
    # In version 2 consecutive numbers would take no space.
    lake.set_option("lake", "parquet_version", 1)
    lake.write(lake.engine.spark.range(1000, 4000).selectExpr("id", "CAST(0 AS INT)"), "t")
    lake.delete("t", "id % 10 = 1")
    delete(lake, 1, 0)
    (large,) = (file for file in files(lake) if file.file.record_count > 100)
    lake.set_option("lake", "target_file_size", large.file.file_size_bytes // 2)
    with require_unchanged(lake):
        (done,) = rewrite_data_files(lake, "lake")
    assert (done.files_processed, done.files_created) == (1 + 2, 2 + 1)
    found = [file for file in files(lake) if file.file.record_count > 100]
    assert [file.file.record_count for file in found] == [1350, 1350]
    assert all("/p=0/" in file.path for file in found)
    assert pq.ParquetFile(found[0].path).metadata.num_rows == 1350


@pytest.mark.parametrize("limit", [0, 100], ids=["in a file", "inlined"])
def test_no_delete_is_lost_to_a_rewrite_in_either_order(lake: Session, limit: int) -> None:
    table_of(lake, 1, 20)
    delete(lake, 0, 0, 1, 2)
    set_inlining_limit(lake, limit)
    other = lake.cursor()
    with run_at_phase("write.files", lambda: other.delete("t", "id IN (3, 4, 15)")):
        done = rewrite_data_files(lake, "lake")
    assert done == [CompactionResult("main", "t", 0, 0, files_skipped=1)]
    assert len(rows_at(current_view(lake))) == 14
    with (
        run_at_phase("commit.begun", lambda: rewrite_data_files(other, "lake")) as done_by_other,
        pytest.raises(Conflict, match="rewrote files"),
    ):
        lake.delete("t", "id = 19")
    assert done_by_other == [[CompactionResult("main", "t", 1, 1)]]
    assert lake.delete("t", "id = 19") == 1
    assert len(rows_with_ids(lake)) == 13


def test_a_fork_rewrites_inherited_files(lake: Session) -> None:
    table_of(lake, 2, 4)
    lake.delete("t", "id = 1")
    delete(lake, 0, 2)
    lake.fork("lake", "child", attach_as="child")
    lake.delete("child.main.t", "id = 5")
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        (done,) = rewrite_data_files(lake, "child")
        assert (done.files_processed, done.files_created) == (2, 1)
    assert [file.deleted_rows for file in files(lake)] == [2, 0]
    assert not any(file.has_deletes for file in files(lake, alias="child"))
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        rewrite_data_files(lake, "lake")
