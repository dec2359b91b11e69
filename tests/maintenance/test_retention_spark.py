"""Expiry and clean-up with Spark: lazy DataFrames, checkpoints, encrypted files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.errors import IllegalArgumentException

from forklake import ColumnSpec, Session
from forklake.errors import Forbidden, InvalidInput, NotFound
from forklake.maintenance import (
    checkpoint,
    cleanup_old_files,
    delete_orphaned_files,
    expire_snapshots,
)
from tests.cli.conftest import CommandLine
from tests.maintenance.witness import files, require_unchanged

LATER = timedelta(days=-1)


def create_filled_table(lake: Session, name: str = "t") -> int:
    """Create a table whose file of rows has ended, and return its first snapshot with rows."""
    lake.create_table(name, [ColumnSpec("id", "int64")])
    lake.set_option("lake", "data_inlining_row_limit", 0)
    lake.insert(name, [(1,), (2,)])
    old = lake.snapshots("lake")[-1].snapshot_id
    lake.delete(name, "id = 1")
    lake.delete(name, "id = 2")
    lake.insert(name, [(3,)])
    return old


def ids(lake: Session, version: int | None = None) -> list[int]:
    return sorted(row.id for row in lake.table("t", version=version).collect())


def test_reading_a_lazy_frame_of_an_expired_snapshot_fails(lake: Session) -> None:
    old = create_filled_table(lake)
    before, now = lake.table("t", version=old), lake.table("t")
    expire_snapshots(lake, "lake", older_than=LATER)
    with pytest.raises(IllegalArgumentException, match=f"No snapshot found at version {old}"):
        before.collect()
    with pytest.raises(NotFound, match=f"No snapshot found at version {old}"):
        lake.table("t", version=old)
    assert [row.id for row in now.collect()] == [3]
    removed = cleanup_old_files(lake, "lake", cleanup_all=True)
    assert len(removed) == 2  # the data file and its delete file
    assert ids(lake) == [3]


def test_a_checkpoint_leaves_one_file_and_every_row(lake: Session, tmp_path: Path) -> None:
    create_filled_table(lake)
    for number in range(4, 8):
        lake.insert("t", [(number,)])
    stray = tmp_path / "data" / "sales" / "main" / "t" / "lost.parquet"
    stray.write_bytes(b"x")
    lake.set_option("lake", "expire_older_than", "0 seconds")
    lake.set_option("lake", "delete_older_than", "0 seconds")
    done = {one.operation: one.count for one in checkpoint(lake, "lake")}
    assert list(done) == [
        "flush_inlined_data",
        "expire_snapshots",
        "merge_adjacent_files",
        "rewrite_data_files",
        "list_files",
        "cleanup_old_files",
        "delete_orphaned_files",
    ]
    assert done["merge_adjacent_files"] == 5
    assert not stray.exists()
    checkpoint(lake, "lake")
    assert ids(lake) == [3, 4, 5, 6, 7]
    assert len(list((tmp_path / "data").rglob("*.parquet"))) == 1
    with lake.transaction(), pytest.raises(InvalidInput, match="inside a transaction"):
        checkpoint(lake, "lake")


def test_encrypted_files_are_cleaned_up(session: Session, metadata: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    session.attach(
        metadata,
        "lake",
        catalog="sales",
        data_path=str(data),
        create_if_not_exists=True,
        encrypted=True,
    )
    session.use("lake")
    create_filled_table(session)
    before = set(data.rglob("*.parquet"))
    expire_snapshots(session, "lake", older_than=LATER)
    removed = cleanup_old_files(session, "lake", cleanup_all=True)
    assert {Path(one) for one in removed} < before
    assert delete_orphaned_files(session, "lake", cleanup_all=True) == []
    assert ids(session) == [3]


def test_the_command_compacts_with_the_option(lake: Session, metadata: str) -> None:
    lake.create_table("t", [ColumnSpec("id", "int64")])
    for number in range(3):
        lake.set_option("lake", "data_inlining_row_limit", 0 if number < 2 else 10)
        lake.insert("t", [(number,), (number + 10,)])
    run = CommandLine(metadata)
    assert run.document("maintain") == {"steps": []}
    with require_unchanged(lake):
        done = run.ok("maintain", "sales", "--compact")
    assert [words[:4] for words in done.cells[:2]] == [
        ["sales", "flush_inlined_data", "2", "rows"],
        ["sales", "merge_adjacent_files", "3", "files"],
    ]
    assert done.lines[-1] == "2 steps."
    assert [file.file.record_count for file in files(lake)] == [6]
    assert run.document("maintain", "--compact") == {"steps": []}


def test_read_only_catalogs_are_not_maintained(lake: Session, metadata: str) -> None:
    create_filled_table(lake)
    lake.attach(metadata, "look", catalog="sales", read_only=True)
    with pytest.raises(Forbidden, match="read-only"):
        expire_snapshots(lake, "look", older_than=LATER)
    with pytest.raises(Forbidden, match="read-only"):
        cleanup_old_files(lake, "look", cleanup_all=True)
