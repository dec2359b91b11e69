"""Contents of a table at every snapshot, to be compared before and after maintenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from forklake import Session
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.local.arrow_plan import Planner
from forklake.engines.local.arrow_reader import VIRTUAL, read_file
from forklake.model.kinds import TABLE
from forklake.model.scans import ScanFile
from forklake.store import phases

Rows = list[tuple[Any, ...]]


def head(lake: Session, alias: str = "lake") -> int:
    """Return the newest snapshot."""
    return lake.attachment(alias).catalog.current_snapshot()


def current_view(lake: Session, alias: str = "lake") -> SnapshotReads:
    """Return the current state of the catalog."""
    return lake.attachment(alias).catalog.now()


def files(lake: Session, name: str = "t", alias: str = "lake") -> list[ScanFile]:
    """Return the current data files of a table."""
    now = current_view(lake, alias)
    return now.scan_files(now.state.table(name))


def sorted_rows(frame: DataFrame) -> Rows:
    """Return the rows of a DataFrame in a deterministic order."""
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def rows_with_ids(lake: Session, name: str = "t", version: int | None = None) -> Rows:
    """Return the rows with their ids and snapshots, as Spark reads them."""
    return sorted_rows(lake.table(name, version=version, virtual=["rowid", "snapshot_id"]))


def rows_at(at: SnapshotReads, name: str = "t") -> Rows:
    """Return the rows of a table with their ids and snapshots."""
    table = at.state.table(name)
    fields = at.state.fields(table)
    batches: list[pa.RecordBatch] = []
    for part in Planner(at, table, fields).whole_table():
        for file in part.added:
            batches += read_file(file, fields, VIRTUAL)
        batches += [] if part.inserted is None else [part.inserted]
    found = (tuple(row.values()) for batch in batches for row in batch.to_pylist())
    return sorted(found, key=repr)


def history(lake: Session, name: str = "t", alias: str = "lake") -> dict[int, Any]:
    """Return the rows and the statistics of a table at every snapshot that has it."""
    catalog = lake.attachment(alias).catalog
    number = current_view(lake, alias).state.table(name).table_id
    found: dict[int, Any] = {}
    for snapshot in catalog.snapshots():
        at = catalog.at(version=snapshot.snapshot_id)
        if at.state.get(TABLE, (number,)) is not None:
            statistics = at.statistics(at.state.table(name))
            counts = statistics.record_count, statistics.next_row_id
            found[snapshot.snapshot_id] = rows_at(at, name), counts
    return found


@contextmanager
def require_unchanged(lake: Session, name: str = "t", alias: str = "lake") -> Iterator[None]:
    """Check that the block changes neither past snapshots nor the current contents."""
    before = history(lake, name, alias)
    yield
    after = history(lake, name, alias)
    newest = before[max(before)]
    assert len(newest[0]) == newest[1][0]  # as many rows as the statistics have
    assert {at: shown for at, shown in after.items() if at in before} == before
    assert all(shown == newest for at, shown in after.items() if at not in before)
    now = current_view(lake, alias)
    sizes = sum(file.file.file_size_bytes for file in files(lake, name, alias))
    assert now.statistics(now.state.table(name)).file_size_bytes == sizes


@contextmanager
def run_at_phase(phase: str, act: Callable[[], object]) -> Iterator[list[object]]:
    """Run an action when a phase is first reached, and yield its results."""
    done: list[object] = []

    def observe(reached: str) -> None:
        if reached == phase and not done:
            done.append(None)
            done[0] = act()

    phases.observer = observe
    try:
        yield done
    finally:
        phases.observer = None
    assert done
