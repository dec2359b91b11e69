"""A merge that dies at any moment has happened or not, and another one finishes the job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forklake import Session
from forklake.files.systems import list_files
from forklake.maintenance import Compacted, merge_adjacent_files
from tests.maintenance.witness import files, history
from tests.spark.crash_job import ALIAS, NUMBERS, opened
from tests.spark.test_crashes import TIMEOUT_SECONDS, wait_for_the_end_of

PHASES = {
    "write.started": 0,
    "write.files": 1,
    "write.footers": 1,
    "commit.locked": 1,
    "commit.prepared": 1,
    "commit.committed": 0,
}
QUICK = "commit.prepared"


@pytest.mark.parametrize(
    "phase",
    [one if one == QUICK else pytest.param(one, marks=pytest.mark.slow) for one in PHASES],
)
def test_a_killed_merge_leaves_all_or_nothing(phase: str, lake: Session, tmp_path: Path) -> None:
    place = [f"ducklake:sqlite:{tmp_path / 'own.db'}", None, str(tmp_path / "own")]
    with opened(*place) as session:  # type: ignore[arg-type]
        session.create_table("t", NUMBERS)
        for number in range(3):
            session.insert("t", [(number,), (number + 10,)])
        before = history(session, alias=ALIAS)
    killed = subprocess.run(
        [sys.executable, "-m", "tests.maintenance.crash_job", phase, json.dumps(place)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    wait_for_the_end_of(int(killed.stdout))

    lake.attach(str(place[0]), ALIAS + "2", catalog=ALIAS)
    alias, is_merged = ALIAS + "2", phase == "commit.committed"
    after = history(lake, alias=alias)
    assert {at: after[at] for at in before} == before
    assert len(files(lake, alias=alias)) == (1 if is_merged else 3)
    on_disk = len(list(list_files(str(place[2]))))
    assert on_disk == 3 + is_merged + PHASES[phase]
    again = merge_adjacent_files(lake, alias)
    assert again == ([] if is_merged else [Compacted("main", "t", 3, 1)])
    assert {at: history(lake, alias=alias)[at] for at in before} == before
    assert len(lake.table(f"{alias}.main.t").collect()) == 6
