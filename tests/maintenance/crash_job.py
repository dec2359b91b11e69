"""Maintenance that is killed at every phase, run by `test_maintenance_crashes`.

Each time a fork of this process dies, which uses the Spark of this process. Each operation has its
own catalog with a table for every phase at which it dies; an import creates catalogs.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

import forklake
from forklake import Session
from forklake.engines.spark import conf, java
from forklake.maintenance import (
    CompactionResult,
    FlushResult,
    add_data_files,
    flush_inlined_data,
    import_ducklake,
    merge_adjacent_files,
    rewrite_data_files,
)
from forklake.store import phases
from tests.fix_metastore import Place
from tests.spark.crash_job import die_at

COMPACTIONS: dict[
    str, Callable[[Session, str | None], Sequence[CompactionResult | FlushResult]]
] = {
    "merge": lambda session, table: merge_adjacent_files(session, "merge", table),
    "rewrite": lambda session, table: rewrite_data_files(
        session, "rewrite", table, delete_threshold=0
    ),
    "flush": lambda session, table: flush_inlined_data(session, "flush", table_name=table),
}
_PREFIXES = {
    "merge": ("write.", "commit."),
    "rewrite": ("write.", "commit."),
    "flush": ("write.", "delete.", "commit."),
    "add": ("commit.",),
    "import": ("import.",),
}
PHASES_OF = {
    operation: [phase for phase in phases.PHASES if phase.startswith(prefixes)]
    for operation, prefixes in _PREFIXES.items()
}


def table_of(phase: str) -> str:
    """Return the table, or the imported catalog, at which the phase is reached."""
    return phase.replace(".", "_")


def open_session(place: Place, folder: Path, *operations: str) -> Session:
    """Return a session with the catalogs of some operations, which writes all rows into files."""
    session = forklake.connect()
    for operation in operations:
        session.attach(
            place.uri,
            operation,
            catalog=operation,
            data_path=str(folder / "data"),
            metadata_schema=place.metadata_schema,
            data_inlining_row_limit=0,
            create_if_not_exists=True,
        )
    return session


def foreign_file(folder: Path, table: str) -> Path:
    """Return the path of another writer's file for a table."""
    return folder / "theirs" / f"{table}.parquet"


def add(session: Session, folder: Path, table: str) -> None:
    """Add the file of another writer."""
    add_data_files(session, "add", table, str(foreign_file(folder, table)))


def import_(place: Place, folder: Path, name: str) -> None:
    """Import a DuckLake."""
    with place.open() as metastore:
        source = f"ducklake:{folder / 'lake.ducklake'}"
        import_ducklake(metastore, source, name, data_path=str(folder / "data"))


def run(place: Place, folder: Path, operation: str, table: str) -> None:
    """Run one operation on one table."""
    if operation == "import":
        import_(place, folder, table)
        return
    session = open_session(place, folder, operation)
    if operation == "add":
        add(session, folder, table)
    else:
        COMPACTIONS[operation](session, table)


def run_and_die(place: Place, folder: Path, operation: str, phase: str) -> None:
    """Run one operation in another process, which dies at the phase."""
    child = os.fork()
    if child == 0:
        die_at(phase)
        run(place, folder, operation, table_of(phase))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"{operation} did not reach {phase}"
    assert os.WTERMSIG(status) == signal.SIGKILL


def main() -> None:
    """Run the operations of the arguments, which follow a place and a folder as JSON."""
    (*where, folder), *operations = json.loads(sys.argv[1]), *sys.argv[2:]
    if not COMPACTIONS.keys().isdisjoint(operations):
        with java.running_machine("1g", conf.java_flags(2)):
            SparkSession.builder.config(map=dict(conf.local(2))).getOrCreate()
    for operation in operations:
        for phase in PHASES_OF[operation]:
            run_and_die(Place(*where), Path(folder), operation, phase)


if __name__ == "__main__":
    main()
