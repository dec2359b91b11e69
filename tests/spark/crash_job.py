"""Writers that are killed at a phase, run by `test_crashes`.

Without Spark, each writer is a fork of this process. With Spark, this process and its Java die.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

import psutil

import forklake
from forklake import ColumnSpec, Session
from forklake.session.insert import insert_rows
from forklake.store import phases

ALIAS = "lake"
NUMBERS = [ColumnSpec("id", "int64")]
# Phases of a write by Arrow, each on its own table. A write that is part of creating a table is
# committed in several steps; a write alone may be committed at once.
MAKING = [phase for phase in phases.PHASES if phase.startswith(("write.", "commit."))]
APPENDING = ["write.files", "commit.begun", "commit.committed"]
RUNNING = "running"  # in the middle of a Spark job
SPARK_PHASES = [
    "write.started",
    RUNNING,
    "write.files",
    "write.footers",
    "commit.committed",
    "delete.files",
]


def opened(uri: str, metadata_schema: str | None, data_path: str) -> Session:
    """Return a session that writes even a single row into a file."""
    session = forklake.connect()
    session.attach(
        uri,
        ALIAS,
        catalog=ALIAS,
        data_path=data_path,
        metadata_schema=metadata_schema,
        data_inlining_row_limit=0,
        create_if_not_exists=True,
    )
    session.use(ALIAS)
    return session


def table_of(phase: str) -> str:
    """Return the name of the table that is written to until the phase."""
    return phase.replace(".", "_")


def die() -> NoReturn:
    """Kill this process with SIGKILL, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")


def die_at(phase: str) -> None:
    """Kill this process when the phase is reached."""

    def observe(reached: str) -> None:
        if reached == phase:
            die()

    phases.observer = observe


# Without Spark


def make(session: Session, phase: str) -> None:
    """Die while a table is created with rows."""
    with session.transaction():
        session.create_table(f"made_{table_of(phase)}", NUMBERS)
        die_at(phase)
        insert_rows(session, f"made_{table_of(phase)}", [(1,), (2,)])


def append(session: Session, phase: str) -> None:
    """Die while rows are appended to a table that has some."""
    die_at(phase)
    insert_rows(session, table_of(phase), [(1,), (2,)])


def without_spark(*place: str | None) -> None:
    """Run the jobs, each in a fork of a process that has loaded everything and has nothing open."""
    for job, when in ((make, MAKING), (append, APPENDING)):
        for phase in when:
            child = os.fork()
            if child == 0:
                job(opened(*place), phase)  # type: ignore[arg-type]
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status), f"{job.__name__} never reached {phase}"
            assert os.WTERMSIG(status) == signal.SIGKILL


# With Spark


def with_spark(phase: str, *place: str | None) -> None:
    """Die during a write with Spark, after printing the id of the Java process."""
    session = opened(*place)  # type: ignore[arg-type]
    spark = session.engine.spark
    (java,) = psutil.Process().children()
    print(java.pid, flush=True)
    if phase == "delete.files":
        die_at(phase)
        session.delete("t", "id < 50")
        return
    session.set_option(ALIAS, "per_thread_output", True)
    rows = "select id from range(100, 200, 1, 2)"
    if phase == RUNNING:
        rows = "select id from range(100, 200, 1, 2) where id < 199 or " + _ASLEEP
        threading.Thread(target=_die_amid_files, args=(Path(str(place[2])),)).start()
    else:
        die_at(phase)
    session.write(spark.sql(rows), "t")


# A condition that never finishes.
_ASLEEP = "reflect('java.lang.Thread', 'sleep', bigint(10000000)) is null"


def _die_amid_files(folder: Path) -> None:
    """Die when the first task has written its file and the second one runs."""
    before = set(folder.rglob("*.parquet"))
    while not any(path.stat().st_size for path in set(folder.rglob("*.parquet")) - before):
        threading.Event().wait(0.01)
    die()


def main() -> None:
    """Run the job that the arguments name: a Spark phase or "", and a place as JSON."""
    phase, place = sys.argv[1], json.loads(sys.argv[2])
    if phase:
        with_spark(phase, *place)
    else:
        without_spark(*place)


if __name__ == "__main__":
    main()
