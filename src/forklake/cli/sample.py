"""Made-up metadata for the demo: a catalog of a shop, and processes that commit to its forks."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

import forklake
from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.cli.formatting import number, size
from forklake.model.entities import Table
from forklake.model.ids import ColumnId

_TABLES = {
    "customers": [ColumnSpec("id", "bigint", nulls_allowed=False), ColumnSpec("name", "varchar")],
    "orders": [
        ColumnSpec("id", "bigint", nulls_allowed=False),
        ColumnSpec("customer", "bigint"),
        ColumnSpec("amount", "decimal(12,2)"),
        ColumnSpec("ordered_at", "timestamptz"),
    ],
    "visits": [ColumnSpec("id", "bigint"), ColumnSpec("page", "varchar")],
}
ROWS_OF_A_FILE = 100_000
BYTES_OF_A_FILE = 8_000_000
_PATIENCE_SECONDS = 60.0


def create_shop(metastore: Metastore, name: str, files: int) -> Catalog:
    """A catalog of three tables with so many data files, most of them of `orders`."""
    catalog = metastore.create_catalog(name, data_path="s3://shop/")
    with catalog.transaction(author="demo", message="the tables") as transaction:
        for table_name, columns in _TABLES.items():
            transaction.create_table(table_name, columns)
    few = files // 10
    counts = {"customers": few, "visits": few, "orders": files - 2 * few}
    state = catalog.refresh()
    with catalog.transaction(author="demo", message=f"{files} files") as transaction:
        for table_name, count in counts.items():
            table = state.table(table_name)
            transaction.add_data_files(table, _files(name, table, count))
    return catalog


def _files(catalog: str, table: Table, count: int) -> Iterator[NewDataFile]:
    for index in range(count):
        first = index * ROWS_OF_A_FILE
        bounds = ColumnBounds(
            column_id=ColumnId(1),
            value_count=ROWS_OF_A_FILE,
            null_count=0,
            min_value=str(first),
            max_value=str(first + ROWS_OF_A_FILE - 1),
        )
        yield NewDataFile(
            path=f"{catalog}/main/{table.table_name}/{index:06d}.parquet",
            record_count=ROWS_OF_A_FILE,
            file_size_bytes=BYTES_OF_A_FILE,
            bounds=(bounds,),
        )


def contents(catalog: Catalog) -> Iterator[tuple[object, ...]]:
    """The tables of a catalog: name, columns, files, rows and size of each."""
    seen = catalog.now()
    for index, one in enumerate(seen.state.tables()):
        held = seen.statistics(one)
        yield (
            catalog.name if index == 0 else None,
            one.table_name,
            len(seen.state.columns(one)),
            number(len(seen.data_files(one))),
            number(held.record_count),
            size(held.file_size_bytes),
        )


class Work(NamedTuple):
    """The commits of one process: how many, and between which readings of the clock."""

    commits: int
    began: float
    ended: float


def commit_in_parallel(
    uri: str, forks: Sequence[str], *, commits: int, processes: int
) -> tuple[int, float]:
    """Commit a file so many times to each fork, from several processes at once.

    Returns how many commits there were, and the seconds from the first to the last.
    """
    context = get_context("spawn")
    start = context.Barrier(processes)
    shares = [forks[index::processes] for index in range(processes)]
    with ProcessPoolExecutor(processes, context, _prepare, (start,)) as pool:
        # Ctrl-C reaches the whole group; the new processes inherit that it is not theirs to heed.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        tasks = [pool.submit(_commit, uri, share, commits) for share in shares]
        signal.signal(signal.SIGINT, handler)
        done = [task.result() for task in tasks]
    seconds = max(work.ended for work in done) - min(work.began for work in done)
    return sum(work.commits for work in done), seconds


_start: Barrier | None = None


def _prepare(start: Barrier) -> None:
    global _start  # noqa: PLW0603
    _start = start


def _commit(uri: str, names: Sequence[str], commits: int) -> Work:
    with forklake.open(uri) as metastore:
        catalogs = [metastore.catalog(name) for name in names]
        assert _start is not None
        _start.wait(_PATIENCE_SECONDS)
        began = time.monotonic()
        for round_number in range(commits):
            for catalog in catalogs:
                table = catalog.refresh().table("orders")
                path = f"{catalog.row.path}main/orders/new-{round_number:06d}.parquet"
                new = NewDataFile(path, ROWS_OF_A_FILE, BYTES_OF_A_FILE)
                with catalog.transaction(author="demo", message="new orders") as transaction:
                    transaction.add_data_files(table, [new])
        return Work(commits * len(catalogs), began, time.monotonic())
