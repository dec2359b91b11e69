"""Maintenance killed at any phase: it happened completely or not, and a rerun finishes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forklake import Catalog, Session
from forklake.errors import AlreadyExists, Unavailable
from forklake.maintenance import flush_inlined_data
from tests.concurrency.interruptions import once_at
from tests.concurrency.raw import RawMetastore
from tests.fix_metastore import Place
from tests.maintenance.crash_job import (
    COMPACTIONS,
    PHASES_OF,
    add,
    foreign_file,
    import_,
    open_session,
    table_of,
)
from tests.maintenance.stock import contents, stock
from tests.maintenance.witness import current_view, files, require_unchanged, rows_at
from tests.properties.retention import RawFiles
from tests.spark.crash_job import NUMBERS

TIMEOUT_SECONDS = 240
DONE = "commit_committed"
WRITTEN = ("write_files", "write_footers")
COMMITTING = ("commit_begun", "commit_locked", "commit_checked", "commit_prepared")
# How many unreferenced files tables have on disk after all those deaths.
LEFT = {
    "merge": dict.fromkeys(WRITTEN + COMMITTING, 1),
    "rewrite": dict.fromkeys(WRITTEN + COMMITTING, 1),
    "flush": dict.fromkeys(WRITTEN, 1) | dict.fromkeys(("delete_files", *COMMITTING), 2),
}


def die_everywhere(place: Place, folder: Path, *operations: str) -> None:
    """Run operations in another process, once for each phase, and kill it there."""
    where = json.dumps([place.backend, place.uri, place.metadata_schema, str(folder)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.maintenance.crash_job", where, *operations],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def tables(operation: str) -> list[str]:
    """Return the tables of an operation."""
    return [table_of(phase) for phase in PHASES_OF[operation]]


def prepare(session: Session, operation: str) -> None:
    """Create tables of three files, the first with a deleted row, and of one inlined row."""
    with session.transaction():
        for table in tables(operation):
            session.create_table((operation, "main", table), NUMBERS)
    for number in range(3):
        with session.transaction():
            for table in tables(operation):
                session.insert((operation, "main", table), [(number,), (number + 10,)])
    if operation != "merge":
        with session.changing(session.attachment(operation)) as change:
            transaction = change.transaction
            for one in map(transaction.table, tables(operation)):
                transaction.delete_positions(one, transaction.data_files(one)[0], [1])
                if operation == "flush":
                    transaction.insert_rows(one, [{"id": 20}])
    if operation == "rewrite":
        flush_inlined_data(session, operation)  # the deletes, to files


def paths(lake: Session, operation: str) -> dict[str, set[str]]:
    """Return the files of all tables."""
    return {
        table: {one.path for one in files(lake, table, operation)} for table in tables(operation)
    }


def on_disk(folder: Path) -> set[str]:
    """Return the existing files, relative to the data path."""
    return {str(one.relative_to(folder / "data")) for one in (folder / "data").rglob("*.parquet")}


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("backend", ["sqlite"])
def test_killed_compaction_loses_nothing_and_a_rerun_finishes(place: Place, tmp_path: Path) -> None:
    with open_session(place, tmp_path, *COMPACTIONS) as lake, ExitStack() as stack:
        for operation in COMPACTIONS:
            prepare(lake, operation)
            for table in tables(operation):
                stack.enter_context(require_unchanged(lake, table, operation))
        before = {operation: paths(lake, operation) for operation in COMPACTIONS}
        die_everywhere(place, tmp_path, *COMPACTIONS)

        for operation, run in COMPACTIONS.items():
            catalog = lake.attachment(operation).catalog
            after = paths(lake, operation)
            assert [table for table in after if after[table] != before[operation][table]] == [DONE]
            again = [one.table_name for one in run(lake, None)]
            assert sorted([*again, DONE]) == sorted(after)
            assert run(lake, None) == []
            removed = catalog.delete_orphaned_files(cleanup_all=True)
            assert Counter(Path(path).parent.name for path in removed) == LEFT[operation]
        assert on_disk(tmp_path) == RawFiles(RawMetastore(place)).known()


@pytest.mark.parametrize("backend", ["sqlite"])
def test_files_of_other_writers_are_added_completely_or_not_at_all(
    place: Place, tmp_path: Path
) -> None:
    with open_session(place, tmp_path, "add") as lake:
        with lake.transaction():
            for table in tables("add"):
                lake.create_table(("add", "main", table), NUMBERS)
                path = foreign_file(tmp_path, table)
                path.parent.mkdir(exist_ok=True)
                pq.write_table(pa.table({"id": [1, 2]}), path)
        die_everywhere(place, tmp_path, "add")

        catalog = lake.attachment("add").catalog
        for table in tables("add"):
            assert len(rows_at(current_view(lake, "add"), table)) == (2 if table == DONE else 0)
            if table != DONE:
                add(lake, tmp_path, table)
            assert [row[0] for row in rows_at(current_view(lake, "add"), table)] == [1, 2]
        assert catalog.delete_orphaned_files(cleanup_all=True) == []
        assert all(foreign_file(tmp_path, table).exists() for table in tables("add"))


Rows = dict[int, list[int]]


def make_ducklake(folder: Path) -> Rows:
    """Create a DuckLake with a merged file that snapshots see in part, and return its contents."""
    with stock(str(folder / "lake.ducklake"), DATA_PATH=f"{folder / 'theirs'}/") as connection:
        connection.execute("CREATE TABLE t (i INT)")
        for first in (0, 2000):
            connection.execute(f"INSERT INTO t SELECT range FROM range({first}, {first + 1500})")
        connection.execute("CALL lake.merge_adjacent_files()")
        found = contents(connection)
    return {at: sorted(int(row[0]) for row in rows) for (at, _), rows in found.items()}


def contents_by_snapshot(catalog: Catalog) -> Rows:
    """Return the contents of an imported catalog, by the former id of the snapshot."""
    versions = [one.snapshot_id for one in catalog.snapshots()]
    tables = ((old, catalog.at(version=new)) for old, new in enumerate(versions))
    return {
        old: sorted(row[0] for row in rows_at(seen)) for old, seen in tables if seen.state.tables()
    }


@pytest.mark.parametrize("backend", ["postgresql"])
def test_a_ducklake_is_imported_completely_or_not_at_all(place: Place, tmp_path: Path) -> None:
    expected = make_ducklake(tmp_path)
    with place.open() as metastore:
        die_everywhere(place, tmp_path, "import")
        for name in tables("import"):
            is_done = name == "import_committed"
            assert (metastore.find(name) is not None) == is_done
            if not is_done:
                import_(place, tmp_path, name)
            catalog = metastore.catalog(name)
            # A file that lists the visible rows of the merged one is written before the catalog.
            assert len(catalog.delete_orphaned_files(cleanup_all=True)) == (0 if is_done else 1)
            assert contents_by_snapshot(catalog) == expected
        ours = {path for path in RawFiles(RawMetastore(place)).known() if not path.startswith("/")}
        assert on_disk(tmp_path) == ours


@pytest.mark.parametrize("backend", ["sqlite"])
def test_an_import_of_unknown_outcome_keeps_its_files(place: Place, tmp_path: Path) -> None:
    expected = make_ducklake(tmp_path)

    def lose() -> NoReturn:
        raise Unavailable("The answer is lost.")

    with place.open() as metastore:
        with once_at("import.committed", lose), pytest.raises(Unavailable):
            import_(place, tmp_path, "theirs")
        assert contents_by_snapshot(metastore.catalog("theirs")) == expected
        with pytest.raises(AlreadyExists):
            import_(place, tmp_path, "theirs")

        # A name that was used before, and an attempt that fails.
        metastore.drop_catalog("theirs")
        with (
            once_at("import.gathered", lambda: metastore.create_catalog("theirs")),
            pytest.raises(AlreadyExists),
        ):
            import_(place, tmp_path, "theirs")
        metastore.drop_catalog("theirs")
        metastore.reclaim_dropped(cleanup_all=True)
        assert on_disk(tmp_path) == set()
