"""Change data feeds of Delta tables that the lake changes, as other readers read them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from forklake.delta.audit import audit_catalog
from forklake.delta.changed_data import needs_change_files
from forklake.model.ids import SnapshotId
from forklake.model.scans import TableChanges
from forklake.sql.session import Session
from tests.delta.hand_written import HandWrittenLog
from tests.delta.mirrored import log_actions
from tests.delta.ruled import Column, import_and_take_over, write_rules

COLUMNS: list[Column] = [
    ("id", "long", {}),
    ("region", "string", {}),
    ("price", "decimal(10,2)", {}),
]
FEED = {"delta.enableChangeDataFeed": "true"}
Changes = Counter[tuple[Any, ...]]


def changes_in_files(location: Path, version: int) -> Changes:
    """Return the changes of a version, as a reader of files sees them."""
    table = DeltaTable(str(location))
    found = table.load_cdf(starting_version=version, ending_version=version).read_all()
    names = ["id", "region", "price", "_change_type"]
    return Counter(tuple(row.values()) for row in pa.table(found).select(names).to_pylist())


def changes_in_lake(lake: Session) -> Changes:
    """Return the changes of the newest snapshot, as the lake sees them."""
    at = lake.attachment("lake").catalog.current_snapshot()
    rows = lake.table_changes("t", at, at).select("id", "region", "price", "change_type").collect()
    return Counter(tuple(row) for row in rows)


@pytest.mark.parametrize("partition_by", [[], ["region"]])
def test_readers_of_the_feed_see_the_changes_of_the_lake(
    lake: Session, written: HandWrittenLog, partition_by: list[str]
) -> None:
    write_rules(written, COLUMNS, FEED, partition_by=partition_by)
    import_and_take_over(lake, str(written.root))
    version = 1
    for statement, files in (
        ("INSERT INTO t SELECT i, CASE i % 2 WHEN 0 THEN 'eu' END, i / 4 FROM range(9) r(i)", None),
        ("DELETE FROM t WHERE id IN (0, 1)", "cdc"),
        ("UPDATE t SET price = price + 1, region = 'us' WHERE id IN (2, 3)", "cdc"),
        ("INSERT OVERWRITE t SELECT id, region, 0 FROM t WHERE id > 6", "cdc"),
        ("TRUNCATE t", None),
    ):
        lake.execute(statement)
        version += 1
        assert changes_in_files(written.root, version) == changes_in_lake(lake), statement
        has_files = any("cdc" in one for one in log_actions(written.root, version))
        assert has_files == (files is not None), statement
    assert audit_catalog(lake.attachment("lake").catalog) == []


def test_a_table_without_a_feed_has_no_change_data(lake: Session, written: HandWrittenLog) -> None:
    write_rules(written, COLUMNS)
    import_and_take_over(lake, str(written.root))
    lake.execute("INSERT INTO t VALUES (1, 'eu', 1), (2, 'eu', 2); DELETE FROM t WHERE id = 1")
    assert not (written.root / "_change_data").exists()


def test_moved_rows_need_no_change_data() -> None:
    none: TableChanges = TableChanges((), (), (), (), frozenset({SnapshotId(3)}), frozenset())
    assert not needs_change_files(none, SnapshotId(3))
    mixed = TableChanges((), (), (), (), frozenset(), frozenset({SnapshotId(3)}))
    assert needs_change_files(mixed, SnapshotId(3))
