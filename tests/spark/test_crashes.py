"""Writers killed at any moment: their rows and files exist completely or not at all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from forklake import Session
from forklake.files.deletes import read_positions
from forklake.files.systems import list_files, remove
from forklake.session.insert import insert_rows
from tests.fix_metastore import Place
from tests.spark.crash_job import (
    ALIAS,
    APPENDING,
    MAKING,
    NUMBERS,
    SPARK_PHASES,
    opened,
    table_of,
)

TIMEOUT_SECONDS = 120
SPARK_GONE_SECONDS = 60


def run(phase: str, place: Place, data: Path) -> subprocess.CompletedProcess[str]:
    """Run the program for one phase with Spark, or for all phases without."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "tests.spark.crash_job", phase),
            json.dumps([place.uri, place.metadata_schema, str(data)]),
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def tables(session: Session) -> list[str]:
    """Return the names of the existing tables."""
    state = session.viewing(session.attachment(ALIAS)).state
    return sorted(table.table_name for table in state.tables("main"))


def ids(session: Session, name: str) -> list[int]:
    """Return the rows of a table as its files store them; each file must exist."""
    view = session.viewing(session.attachment(ALIAS))
    found: list[int] = []
    for file in view.scan_files(view.state.table(name)):
        deleted = set(file.deleted_positions)
        if file.delete_path is not None:
            deleted |= set(read_positions(file.delete_path, file.path).to_pylist())
        rows = pq.ParquetFile(file.path).read()["id"].to_pylist()
        found += [value for at, value in enumerate(rows) if at not in deleted]
    return sorted(found)


def left_over(session: Session, data: Path) -> list[str]:
    """Return the files that no table refers to."""
    view = session.viewing(session.attachment(ALIAS))
    used = set()
    for table in view.state.tables("main"):
        for file in view.scan_files(table):
            used |= {file.path, file.delete_path}
    return [file.path for file in list_files(str(data)) if file.path not in used]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["postgresql", "sqlite"])
def test_killed_writer_leaves_all_or_nothing(place: Place, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with opened(place.uri, place.metadata_schema, str(data)) as session:
        for phase in APPENDING:
            session.create_table(table_of(phase), NUMBERS)
            insert_rows(session, table_of(phase), [(0,)])
        done = run("", place, data)
        assert done.returncode == 0, done.stderr

        made = f"made_{table_of('commit.committed')}"
        assert tables(session) == sorted([made, *map(table_of, APPENDING)])
        assert ids(session, made) == [1, 2]
        for phase in APPENDING:
            expected = [0, 1, 2] if phase == "commit.committed" else [0]
            assert ids(session, table_of(phase)) == expected

        # Each writer that died after it had written its file has left that file.
        began = [
            one for one in MAKING + APPENDING if one not in ("write.started", "commit.committed")
        ]
        found = left_over(session, data)
        assert len(found) == len(began)
        remove(found)
        assert ids(session, made) == [1, 2]
        insert_rows(session, made, [(3,)])
        assert ids(session, made) == [1, 2, 3]


CASES = [(phase, ("sqlite", "postgresql")[at % 2]) for at, phase in enumerate(SPARK_PHASES)]


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "backend"), CASES)
def test_killed_spark_leaves_all_or_nothing(phase: str, place: Place, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with opened(place.uri, place.metadata_schema, str(data)) as session:
        session.create_table("t", NUMBERS)
        insert_rows(session, "t", [(number,) for number in range(100)])
        done = run(phase, place, data)
        assert done.returncode == -signal.SIGKILL, done.stderr
        wait_for_the_end_of(int(done.stdout))

        is_there = phase == "commit.committed"
        assert ids(session, "t") == list(range(200 if is_there else 100))
        found = left_over(session, data)
        left = {"write.started": 0, "commit.committed": 0, "delete.files": 1}
        if phase == "running":
            assert len(found) <= 2  # Spark may have had time to remove them
        else:
            assert len(found) == left.get(phase, 2)
        remove(found)
        assert ids(session, "t") == list(range(200 if is_there else 100))
        assert insert_rows(session, "t", [(1000,)]) == 1


def wait_for_the_end_of(process_id: int) -> None:
    """Wait until a Spark has ended; it ends by itself after its driver."""
    if psutil.pid_exists(process_id):
        assert psutil.wait_procs([psutil.Process(process_id)], SPARK_GONE_SECONDS)[1] == []
