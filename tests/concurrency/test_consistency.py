"""The consistency checks, which must find deliberate damage."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.concurrency.consistency import problems
from tests.concurrency.worlds import commit, copy, prepare
from tests.fix_metastore import Place

DAMAGES = {
    "a snapshot is gone": "DELETE FROM ducklake_snapshot WHERE snapshot_id = 3",
    "a snapshot is unused": "DELETE FROM ducklake_snapshot_changes WHERE snapshot_id = 3",
    "a head is gone": "DELETE FROM ducklake_catalog_head WHERE catalog_id = 0",
    "a head is outdated": "UPDATE ducklake_catalog_head SET snapshot_id = 1 WHERE catalog_id = 0",
    "a version is wrong": "UPDATE ducklake_catalog_head SET schema_version = schema_version + 1",
    "a time is wrong": "UPDATE ducklake_catalog_head SET snapshot_time = '2000-01-01'",
    "a dropped catalog has a head": "UPDATE ducklake_catalog SET end_snapshot = begin_snapshot",
    "folders are shared": "UPDATE ducklake_catalog SET path = 'base/'",
    "time stands still": "UPDATE ducklake_snapshot SET snapshot_time = '2000-01-01'",
    "a lineage has no beginning": "DELETE FROM ducklake_catalog_lineage WHERE depth = 0",
    "a lineage has a gap": "UPDATE ducklake_catalog_lineage SET depth = 3 WHERE depth = 2",
    "a lineage is cut off": "DELETE FROM ducklake_catalog_lineage WHERE depth = 2",
    "a lineage extends too far": (
        "UPDATE ducklake_catalog_lineage SET upto_snapshot = 9 WHERE depth = 1"
    ),
    "a tombstone ends nothing": "UPDATE ducklake_tombstone SET begin_snapshot = 9 WHERE kind = 11",
    "a tombstone is gone": "DELETE FROM ducklake_tombstone WHERE kind = 11",
    "statistics are duplicated": "DELETE FROM ducklake_tombstone WHERE kind = 13",
    "a tag is duplicated": "DELETE FROM ducklake_tombstone WHERE kind = 6",
    "an old version is visible": "UPDATE ducklake_table_stats SET end_snapshot = NULL",
    "a file is gone": "DELETE FROM ducklake_data_file WHERE path LIKE 'made%'",
    "a table is gone": "DELETE FROM ducklake_table WHERE table_name LIKE 'made%'",
    "columns are gone": "DELETE FROM ducklake_column",
    "a schema is gone": "DELETE FROM ducklake_schema",
    "names are shared": "UPDATE ducklake_table SET table_name = 'same'",
    "row ids are duplicated": "UPDATE ducklake_data_file SET row_id_start = 0",
    "row ids will be duplicated": "UPDATE ducklake_table_stats SET next_row_id = 1",
    "rows are miscounted": "UPDATE ducklake_table_stats SET record_count = 1",
    "a child has no parent": "DELETE FROM ducklake_partition_info",
    "a counter is behind": "UPDATE ducklake_sequence SET next_value = 1",
    "a table of inlined rows is missing": (
        "UPDATE ducklake_inlined_data_tables SET table_name = 'ducklake_inlined_data_9_9'"
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a metastore with rows of every kind."""
    path = tmp_path_factory.mktemp("whole") / "metastore.db"
    with place_of(path).open() as metastore:
        prepare(metastore)
        commit(metastore, 1)
        copy(metastore, 1)
    return path


def place_of(path: Path) -> Place:
    return Place("sqlite", f"ducklake:sqlite:{path}")


def test_an_undamaged_metastore_has_no_problems(whole: Path) -> None:
    assert problems(place_of(whole), every_snapshot=True) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(whole: Path, tmp_path: Path, damage: str) -> None:
    path = Path(shutil.copy(whole, tmp_path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(DAMAGES[damage]).rowcount > 0
        connection.commit()
    assert problems(place_of(path)) != []
