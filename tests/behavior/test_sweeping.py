"""Deletion of invisible rows in batches, which schedules every invisible file for deletion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.store import sweep
from tests.behavior.builders import a_table


@pytest.mark.parametrize("count", [5, 6, 7])
def test_files_of_all_batches_are_scheduled_for_deletion(
    metastore: Metastore, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "BATCH", 3)
    catalog = metastore.create_catalog("lake", data_path="/lake")
    table = a_table(catalog, files=[f"file-{number}" for number in range(count)])
    with catalog.transaction() as transaction:
        transaction.end_data_files(table, transaction.data_files(table))
    catalog.expire_snapshots(older_than=datetime.now(UTC) + timedelta(hours=1))
    assert len(catalog.scheduled_files()) == count
    with metastore.database.reading() as connection:
        for name in ("ducklake_data_file", "ducklake_file_column_stats"):
            assert connection.fetch(f"SELECT 1 FROM {name} WHERE catalog_id >= 0") == []
