"""merge_adjacent_files: fewer files, without other visible changes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake import ColumnSpec, NewDataFile, Session, struct
from forklake.errors import Conflict, Forbidden, InvalidInput, NotFound
from forklake.maintenance import CompactionResult, merge_adjacent_files, rewrite_data_files
from forklake.maintenance.file_groups import batch_groups, group_files
from forklake.model.changes import Change, ChangeKind
from forklake.model.entities import DataFile
from forklake.model.files import LINEAGE
from forklake.model.ids import DataFileId, PartitionId, TableId
from forklake.model.scans import ScanFile
from tests.maintenance.witness import (
    current_view,
    files,
    head,
    require_unchanged,
    rows_at,
    rows_with_ids,
    run_at_phase,
    sorted_rows,
)

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("name", "varchar")]


def insert(lake: Session, *ids: int, name: str = "t") -> None:
    """Insert rows as one file."""
    lake.insert(name, [(one, f"n{one}") for one in ids])


def table_of(lake: Session, *columns: ColumnSpec, name: str = "t") -> None:
    """Create a table that keeps all rows in files."""
    lake.create_table(name, columns or COLUMNS)
    lake.set_option("lake", "data_inlining_row_limit", 0)


def last_change(lake: Session, alias: str = "lake") -> tuple[Change, ...]:
    """Return the changes that the newest snapshot records."""
    return lake.snapshots(alias)[-1].changes


# Unchanged contents


def test_merged_rows_keep_ids_snapshots_and_history(lake: Session) -> None:
    table_of(lake)
    for start in range(0, 12, 3):
        insert(lake, *range(start, start + 3))
    with require_unchanged(lake):
        (done,) = merge_adjacent_files(lake, "lake", "t")
    assert done == CompactionResult("main", "t", 4, 1)
    (merged,) = files(lake)
    assert last_change(lake) == (Change(ChangeKind.MERGED, merged.file.table_id),)
    assert lake.snapshots("lake")[-1].commit_message == "merge_adjacent_files"
    assert (merged.file.row_id_start, merged.file.record_count) == (None, 12)
    stored = pq.ParquetFile(merged.path).schema_arrow
    assert {name: int(stored.field(name).metadata[b"PARQUET:field_id"]) for name in LINEAGE} == (
        LINEAGE
    )
    assert rows_with_ids(lake) == rows_at(current_view(lake))
    assert merge_adjacent_files(lake, "lake") == []
    insert(lake, 12)
    assert [row[2] for row in rows_with_ids(lake)] == [0, 1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]


def test_an_updated_row_keeps_its_id_through_an_insert_and_a_merge(lake: Session) -> None:
    table_of(lake)
    insert(lake, *range(10))
    start = head(lake) + 1
    lake.update("t", {"name": "'new'"}, "id = 5")
    insert(lake, 10)
    feed = sorted_rows(lake.table_changes("t", start, head(lake)))
    rewrite_data_files(lake, "lake", delete_threshold=0)
    with require_unchanged(lake):
        assert merge_adjacent_files(lake, "lake")[0].files_processed == 3
    assert (5, "new", 5, start) in rows_with_ids(lake)
    assert sorted_rows(lake.table_changes("t", start, head(lake))) == feed
    assert sorted(row[2] for row in feed) == ["insert", "update_postimage", "update_preimage"]


def test_merged_rows_have_the_current_schema(lake: Session, tmp_path: Path) -> None:
    table_of(
        lake,
        ColumnSpec("rowid", "int8"),  # named like a virtual column
        ColumnSpec("s", struct(x="int16", y="varchar")),
    )
    lake.insert("t", [(1, {"x": 1, "y": "a"})])
    lake.set_column_type("t", "rowid", "float32")
    lake.rename_column("t", "rowid", "number")
    lake.rename_column("t", "s.x", "z")
    lake.add_column("t", "s.more", "int32", default="7")
    lake.add_column("t", "extra", "int32", default="9")
    lake.insert("t", [(2.5, {"z": 2, "y": "b", "more": 3}, 4), (None, None, None)])
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"k": pa.array([3.0], pa.float32())}), foreign)
    with lake.changing(lake.attachment("lake")) as change:
        table = change.transaction.table("t")
        number = change.transaction.state.column(table, "number").column_id
        mapping = change.transaction.add_name_mapping(table, [("k", number)])
        size = foreign.stat().st_size
        new = NewDataFile(str(foreign), 1, size, path_is_relative=False, mapping_id=mapping)
        change.transaction.add_data_files(table, [new])
    expected = rows_with_ids(lake)
    with require_unchanged(lake):
        merge_adjacent_files(lake, "lake")
    (merged,) = files(lake)
    assert merged.file.mapping_id is None
    assert rows_with_ids(lake) == expected
    assert pq.ParquetFile(merged.path).schema_arrow.field("rowid").type == pa.float32()
    assert foreign.exists()
    lake.drop_column("t", "s.more")
    lake.set_column_type("t", "number", "float64")
    assert [row[0] for row in sorted_rows(lake.table("t"))] == [1.0, 2.5, 3.0, None]


def test_encrypted_files_are_merged_to_an_encrypted_one(session: Session, tmp_path: Path) -> None:
    session.attach(
        f"ducklake:{tmp_path / 'meta.db'}",
        "lake",
        catalog="lake",
        data_path=str(tmp_path / "data"),
        encrypted=True,
        create_if_not_exists=True,
    )
    session.use("lake")
    table_of(session)
    insert(session, 1, 2)
    insert(session, 3)
    with require_unchanged(session):
        assert merge_adjacent_files(session, "lake")[0].files_created == 1
    (merged,) = files(session)
    assert merged.file.encryption_key is not None
    with pytest.raises(OSError, match="encrypted"):
        pq.read_metadata(merged.path)
    assert [row[0] for row in rows_with_ids(session)] == [1, 2, 3]


# Choice of files


def test_files_of_one_partition_are_merged_also_for_older_partitionings(lake: Session) -> None:
    table_of(lake, ColumnSpec("id", "int64"), ColumnSpec("p", "varchar"))
    lake.insert("t", [(0, "a")])
    lake.insert("t", [(1, "b")])
    lake.set_partitioning("t", ["id"])
    lake.insert("t", [(2, "a"), (3, "a")])
    lake.insert("t", [(2, "b"), (4, "a")])
    lake.set_partitioning("t", ["p"])
    for start in (5, 10):
        lake.insert("t", [(start + one, "abc"[one % 3]) for one in range(5)])
    with require_unchanged(lake):
        (done,) = merge_adjacent_files(lake, "lake")
    assert (done.files_processed, done.files_created) == (2 + 2 + 6, 1 + 1 + 3)
    now = current_view(lake)
    table = now.state.table("t")
    found = now.scan_files(table)
    values = {
        row.data_file_id: row.partition_value
        for row in now.partition_values(table, [one.file.data_file_id for one in found])
    }
    shown = sorted(
        (str(one.file.partition_id), values.get(one.file.data_file_id), one.file.record_count)
        for one in found
    )
    ids = sorted({one.file.partition_id or 0 for one in found})
    assert shown == sorted(
        [("None", None, 2)]
        + [(str(ids[1]), value, count) for value, count in (("2", 2), ("3", 1), ("4", 1))]
        + [(str(ids[2]), value, count) for value, count in (("a", 4), ("b", 4), ("c", 2))]
    )
    assert sum("/p=" in one.path for one in found) == 3
    assert lake.table("t", where="p = 'a'").count() == 8
    assert lake.table("t", where="id = 2").count() == 2
    assert merge_adjacent_files(lake, "lake") == []


def test_options_choose_the_files_to_merge(lake: Session) -> None:
    table_of(lake)
    lake.create_schema("s")
    lake.create_table("s.t", COLUMNS)
    for number in range(4):
        # So many that footers are a small part of the files.
        ids = range(number * 2000, number * 2000 + 2000)
        insert(lake, *ids)
        insert(lake, *ids, name="s.t")
    size = max(one.file.file_size_bytes for one in files(lake))
    least = min(one.file.file_size_bytes for one in files(lake))
    assert merge_adjacent_files(lake, "lake", schema="s", max_file_size=least) == []
    assert merge_adjacent_files(lake, "lake", min_file_size=10 * size) == []
    lake.set_option("lake", "auto_compact", False, schema="s")
    assert merge_adjacent_files(lake, "lake", "s.t") == []
    lake.set_option("lake", "auto_compact", None, schema="s")
    lake.set_option("lake", "target_file_size", int(2.5 * size))
    with require_unchanged(lake):
        done = merge_adjacent_files(lake, "lake", "t", max_compacted_files=1)
    assert done == [CompactionResult("main", "t", 2, 1)]
    lake.set_option("lake", "target_file_size", None)
    assert merge_adjacent_files(lake, "lake", schema="main") == [
        CompactionResult("main", "t", 3, 1)
    ]
    assert merge_adjacent_files(lake, "lake", "t", "s") == [CompactionResult("s", "t", 4, 1)]


def test_bad_input_changes_nothing(lake: Session, metadata: str) -> None:
    table_of(lake)
    insert(lake, 1)
    insert(lake, 2)
    before = head(lake)
    with pytest.raises(InvalidInput, match=r"less than max_file_size \(5\)"):
        merge_adjacent_files(lake, "lake", min_file_size=5, max_file_size=5)
    with pytest.raises(NotFound, match=r"'main\.none' does not exist"):
        merge_adjacent_files(lake, "lake", "none")
    with pytest.raises(NotFound, match="'none' does not exist"):
        merge_adjacent_files(lake, "lake", schema="none")
    with pytest.raises(InvalidInput, match="is not a table of the catalog"):
        merge_adjacent_files(lake, "lake", "a.b.c")
    with lake.transaction(), pytest.raises(InvalidInput, match="inside a transaction"):
        merge_adjacent_files(lake, "lake")
    lake.attach(metadata, "fixed", catalog="sales", read_only=True)
    with pytest.raises(Forbidden, match="read-only"):
        merge_adjacent_files(lake, "fixed")
    assert head(lake) == before


# Groups


def make_file(number: int, size: int, partition: int | None = None, deleted: int = 0) -> ScanFile:
    file = DataFile(
        table_id=TableId(1),
        data_file_id=DataFileId(number),
        file_order=0,
        path=f"f{number}",
        path_is_relative=True,
        file_format="parquet",
        record_count=100,
        file_size_bytes=size,
        partition_id=None if partition is None else PartitionId(1),
    )
    return ScanFile(file, file.path, deleted_positions=tuple(range(deleted)))


FILES = st.lists(
    st.tuples(st.integers(1, 120), st.sampled_from([None, 1, 2, 3]), st.integers(0, 100))
)


@given(FILES, st.integers(1, 3))
def test_files_are_grouped_by_partition_and_size_and_groups_batched(
    described: list[tuple[int, int | None, int]], least: int
) -> None:
    listed = [make_file(number, *one) for number, one in enumerate(described)]
    values = {
        one.file.data_file_id: (str(described[number][1]),)
        for number, one in enumerate(listed)
        if one.file.partition_id is not None
    }
    every = group_files(listed, values, 100)
    assert sorted(one.path for group in every for one in group.files) == sorted(
        one.path for one in listed
    )
    for group in every:
        assert group.size <= 100 or len(group.files) == 1
        keys = {values.get(one.file.data_file_id, ()) for one in group.files}
        assert keys == {group.partition[1]}
        numbers = [one.file.data_file_id for one in group.files]
        assert numbers == sorted(numbers)
        assert group.rows_per_file(100) >= min(1, group.rows)
    chosen = group_files(listed, values, 100, minimum=least)
    assert chosen == [group for group in every if len(group.files) >= least]
    batches = list(batch_groups(chosen, PartitionId(1), 100))
    assert sorted(map(repr, chosen)) == sorted(repr(one) for batch in batches for one in batch)
    for batch in batches:
        assert len(batch) == 1 or sum(one.size for one in batch) <= 100
        assert len({one.partition for one in batch}) == len(batch)
        assert len(batch) == 1 or all(one.partition[0] == 1 for one in batch)


# Order


def test_merged_rows_are_sorted_as_configured(lake: Session) -> None:
    table_of(lake, ColumnSpec("a", "int32"), ColumnSpec("b", "varchar"), ColumnSpec("p", "int32"))
    lake.set_sorted_by("t", ["b DESC NULLS FIRST", '"a"'])
    lake.rename_column("t", "b", "c")
    lake.set_partitioning("t", ["p"])
    lake.insert("t", [(3, "x", 1), (None, "x", 1), (1, None, 1), (5, "y", 2)])
    lake.insert("t", [(2, "x", 1), (1, "y", 1), (4, "y", 2)])
    with require_unchanged(lake):
        assert merge_adjacent_files(lake, "lake")[0].files_created == 2
    stored = [pq.read_table(one.path, partitioning=None) for one in files(lake)]
    pairs = [list(zip(*(one[name].to_pylist() for name in "ab"), strict=True)) for one in stored]
    assert sorted(pairs, key=len) == [
        [(4, "y"), (5, "y")],
        [(1, None), (1, "y"), (2, "x"), (3, "x"), (None, "x")],
    ]
    with pytest.raises(InvalidInput, match="'c' is a sort key"):
        lake.drop_column("t", "c")
    for wrong, message in (("c.d", "cannot be sorted by"), ("none", "does not exist")):
        with pytest.raises((InvalidInput, NotFound), match=message):
            lake.set_sorted_by("t", [wrong])
    lake.set_sorted_by("t", [])
    lake.drop_column("t", "c")
    assert current_view(lake).state.tags(current_view(lake).state.table("t").table_id) == {}


# Forks


def test_a_fork_merges_inherited_files_without_affecting_its_parent(lake: Session) -> None:
    table_of(lake)
    insert(lake, 0, 1)
    insert(lake, 2)
    lake.fork("lake", "child", attach_as="child")
    insert(lake, 3)
    insert(lake, 4, name="child.main.t")
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        (done,) = merge_adjacent_files(lake, "child")
        assert (done.files_processed, done.files_created) == (3, 1)
        (merged,) = files(lake, alias="child")
        assert "/child/" in merged.path
        assert len(files(lake)) == 3
    with require_unchanged(lake), require_unchanged(lake, alias="child"):
        merge_adjacent_files(lake, "lake")
    lake.fork("child", "grandchild", at=head(lake, "child") - 1, attach_as="grandchild")
    assert len(files(lake, alias="grandchild")) in (1, 3)
    assert [row[0] for row in rows_with_ids(lake, "grandchild.main.t")] == [0, 1, 2, 4]
    assert [row[0] for row in rows_with_ids(lake)] == [0, 1, 2, 3]


# Concurrent changes


@pytest.mark.parametrize("limit", [0, 100], ids=["in a file", "inlined"])
def test_no_delete_is_lost_to_a_merge_in_either_order(lake: Session, limit: int) -> None:
    table_of(lake)
    insert(lake, *range(10))
    insert(lake, *range(10, 20))
    other = lake.cursor()
    lake.set_option("lake", "data_inlining_row_limit", limit)
    with run_at_phase("write.files", lambda: other.delete("t", "id IN (3, 4, 15)")):
        done = merge_adjacent_files(lake, "lake")
    assert done == [CompactionResult("main", "t", 0, 0, files_skipped=2)]
    assert len(files(lake)) == 2
    assert lake.table("t").count() == 17
    assert len(list(Path(lake.attachment("lake").data_path).rglob("*.parquet"))) == (
        2 if limit else 4
    )

    rewrite_data_files(lake, "lake", delete_threshold=0)
    lake.set_option("lake", "data_inlining_row_limit", 0)
    insert(lake, *range(20, 25))
    lake.set_option("lake", "data_inlining_row_limit", limit)
    with (
        run_at_phase("commit.begun", lambda: merge_adjacent_files(other, "lake")) as merged,
        pytest.raises(Conflict, match="merged files"),
    ):
        lake.delete("t", "id < 3")
    assert merged == [[CompactionResult("main", "t", 2, 1)]]
    assert lake.delete("t", "id < 3") == 3
    assert len(rows_at(current_view(lake))) == 19


def test_concurrent_appends_alterations_and_merges(lake: Session) -> None:
    table_of(lake)
    insert(lake, 0)
    insert(lake, 1)
    other = lake.cursor()
    with run_at_phase("write.files", lambda: insert(other, 2)):
        assert merge_adjacent_files(lake, "lake") == [CompactionResult("main", "t", 2, 1)]
    with run_at_phase("write.files", lambda: merge_adjacent_files(other, "lake")):
        assert merge_adjacent_files(lake, "lake")[0].files_skipped == 2
    insert(lake, 3)
    with run_at_phase("write.files", lambda: other.add_column("t", "more", "int32")):
        assert merge_adjacent_files(lake, "lake")[0].files_skipped == 2
    with run_at_phase("write.files", lambda: other.drop_table("t")):
        assert merge_adjacent_files(lake, "lake")[0].files_skipped == 2
    lake.create_table("t", COLUMNS)
    assert merge_adjacent_files(lake, "lake") == []
