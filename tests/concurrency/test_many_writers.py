"""Sixteen concurrent writers: nothing is lost or repeated, and every writer gets a turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest

from forklake import Catalog, Metastore
from forklake.store.postgresql import PostgresDatabase
from tests.concurrency.consistency import problems
from tests.concurrency.processes import in_processes, in_threads
from tests.concurrency.writers import (
    Append,
    append_for,
    count_for,
    count_times,
    counted,
    make_catalog,
    table_of,
)
from tests.fix_metastore import Place

WRITERS = 16
THREADS = 8
SECONDS = 4.0
SHARED_BACKENDS = ("postgresql", "sqlite", "mysql")

shared_backends = pytest.mark.parametrize("backend", SHARED_BACKENDS)


def assert_appended(catalog: Catalog, appends: list[Append]) -> None:
    """Check that the catalog has exactly the acknowledged files, in the order of commits."""
    now = catalog.now()
    table = table_of(catalog)
    files = sorted(now.data_files(table), key=lambda file: file.begin_snapshot)
    assert {(file.path, file.record_count, file.begin_snapshot) for file in files} == {
        (one.path, one.rows, one.snapshot_id) for one in appends
    }
    assert len(files) == len(appends)
    # Row ids are consecutive: their order is the order of the commits.
    for one, other in pairwise(files):
        assert one.begin_snapshot < other.begin_snapshot
        assert one.row_id_start is not None
        assert one.row_id_start + one.record_count == other.row_id_start
    assert files[0].row_id_start == 0
    rows = sum(one.rows for one in appends)
    statistics = now.statistics(table)
    assert (statistics.record_count, statistics.next_row_id) == (rows, rows)
    assert statistics.file_size_bytes == 100 * rows


def assert_ordered(catalog: Catalog, appends: list[Append]) -> None:
    """Check that the history consists of the acknowledged commits, with increasing times."""
    history = catalog.snapshots()
    made = 2  # the catalog and its table
    numbers = [snapshot.snapshot_id for snapshot in history[made:]]
    assert numbers == sorted(one.snapshot_id for one in appends)
    for one, other in pairwise(history):
        assert one.snapshot_id < other.snapshot_id
        assert one.snapshot_time < other.snapshot_time


def is_fair(counts: list[int]) -> bool:
    """Return whether each writer got at least half of the average."""
    return min(counts) >= sum(counts) / len(counts) / 2


def assert_fair(counts: list[int]) -> None:
    """Check that every writer got a turn."""
    assert is_fair(counts), sorted(counts)


@shared_backends
@pytest.mark.slow
def test_one_table_accepts_concurrent_appends(place: Place) -> None:
    with place.open() as metastore:
        catalog = make_catalog(metastore, "shared")
        jobs = [partial(append_for, place, "shared", number, SECONDS) for number in range(WRITERS)]
        acknowledged = in_processes(jobs)
        everything = [one for appends in acknowledged for one in appends]
        assert_appended(catalog, everything)
        assert_ordered(catalog, everything)
        assert_fair([len(appends) for appends in acknowledged])
    assert problems(place) == []


@shared_backends
@pytest.mark.slow
def test_writers_of_different_catalogs_do_not_affect_each_other(place: Place) -> None:
    names = [f"own-{number}" for number in range(WRITERS)]
    with place.open() as metastore:
        catalogs = [make_catalog(metastore, name) for name in names]
        jobs = [
            partial(append_for, place, name, number, SECONDS / 2)
            for number, name in enumerate(names)
        ]
        acknowledged = in_processes(jobs)
        for catalog, appends in zip(catalogs, acknowledged, strict=True):
            assert_appended(catalog, appends)
            assert_ordered(catalog, appends)
        numbers = [one.snapshot_id for appends in acknowledged for one in appends]
        assert len(set(numbers)) == len(numbers)
        if place.backend != "mysql":  # a few commits each are too few to judge
            assert_fair([len(appends) for appends in acknowledged])
    assert problems(place) == []


@shared_backends
@pytest.mark.slow
def test_no_update_is_lost(place: Place) -> None:
    times = 10
    with place.open() as metastore:
        catalog = make_catalog(metastore, "shared")
        in_processes([partial(count_times, place, "shared", times) for _ in range(WRITERS)])
        assert counted(catalog) == WRITERS * times
        assert len(catalog.snapshots()) == 2 + WRITERS * times
    assert problems(place) == []


@shared_backends
@pytest.mark.slow
def test_every_writer_gets_to_update(place: Place) -> None:
    with place.open() as metastore:
        catalog = make_catalog(metastore, "shared")
        jobs = [partial(count_for, place, "shared", SECONDS) for _ in range(WRITERS)]
        total = 0
        for _ in range(3):
            acknowledged = in_processes(jobs)
            total += sum(acknowledged)
            assert counted(catalog) == total
            # Starvation would repeat in every round; one slow writer may have had no processor.
            if is_fair(acknowledged):
                break
        assert_fair(acknowledged)


@dataclass(frozen=True)
class Opened:
    """A metastore that threads share."""

    metastore: Metastore

    @contextmanager
    def open(self) -> Iterator[Metastore]:
        yield self.metastore


@pytest.mark.parametrize("backend", ["postgresql"])
def test_updates_succeed_with_more_threads_than_connections(metastore: Metastore) -> None:
    database = metastore.database
    assert isinstance(database, PostgresDatabase)
    database._pool.resize(min_size=0, max_size=4)
    database._pool.timeout = 2.0
    catalog = make_catalog(metastore, "shared")
    in_threads([partial(count_times, Opened(metastore), "shared", 2) for _ in range(THREADS)])
    assert counted(catalog) == THREADS * 2


@pytest.mark.parametrize("backend", ["duckdb"])
class TestThreads:
    """Threads that share a metastore, because a DuckDB file belongs to one process."""

    def test_one_table_accepts_concurrent_appends(self, place: Place, metastore: Metastore) -> None:
        catalog = make_catalog(metastore, "shared")
        opened = Opened(metastore)
        jobs = [partial(append_for, opened, "shared", number, 1.0) for number in range(THREADS)]
        acknowledged = in_threads(jobs)
        everything = [one for appends in acknowledged for one in appends]
        assert_appended(catalog, everything)
        assert_ordered(catalog, everything)
        assert problems(place) == []

    def test_writers_of_different_catalogs_do_not_affect_each_other(
        self, place: Place, metastore: Metastore
    ) -> None:
        catalogs = [make_catalog(metastore, f"own-{number}") for number in range(THREADS)]
        opened = Opened(metastore)
        jobs = [
            partial(append_for, opened, catalog.name, number, 1.0)
            for number, catalog in enumerate(catalogs)
        ]
        for catalog, appends in zip(catalogs, in_threads(jobs), strict=True):
            assert_appended(catalog, appends)
            assert_ordered(catalog, appends)
        assert problems(place) == []

    def test_no_update_is_lost(self, place: Place, metastore: Metastore) -> None:
        catalog = make_catalog(metastore, "shared")
        jobs = [partial(count_for, Opened(metastore), "shared", 1.0) for _ in range(THREADS)]
        acknowledged = in_threads(jobs)
        assert counted(catalog) == sum(acknowledged)
        assert problems(place) == []
