"""A thread that has reserved a catalog commits while all other commits wait."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import psycopg
import pytest

from forklake import Catalog, Metastore
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS
from tests.concurrency.writers import make_catalog, table_of
from tests.fix_metastore import Place

WRITERS = 40  # more than there are connections


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return a catalog with a table."""
    return make_catalog(metastore, "base")


def snapshots_of(catalog: Catalog) -> list[str | None]:
    return [one.commit_message for one in catalog.snapshots()]


def commit(catalog: Catalog, message: str) -> None:
    """Append one row with a message."""
    with catalog.transaction(message=message) as transaction:
        transaction.insert_rows(table_of(catalog), [{"id": 1}])


def test_all_other_commits_wait_for_a_reservation(catalog: Catalog) -> None:
    database, number = catalog.database, catalog.catalog_id
    with ThreadPoolExecutor(WRITERS) as pool:
        with database.turn(number) as turn, turn.reserve():
            waiting = [pool.submit(commit, catalog, "other") for _ in range(WRITERS)]
            wait(waiting, timeout=0.5)
            for _ in range(3):
                commit(catalog, "mine")
            assert not any(one.done() for one in waiting)
        for one in waiting:
            one.result(TIMEOUT_SECONDS)
    assert snapshots_of(catalog)[-WRITERS - 3 :] == ["mine"] * 3 + ["other"] * WRITERS


@pytest.mark.slow
def test_reservation_is_free_of_deadlocks_among_busy_writers(
    catalog: Catalog, backend: str
) -> None:
    # The other backends have no pool to exhaust.
    writers = WRITERS if backend == "postgresql" else 4
    database, number = catalog.database, catalog.catalog_id
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            commit(catalog, "other")

    def write_reserved() -> None:
        for _ in range(2):
            with database.turn(number) as turn, turn.reserve():
                start = catalog.head().snapshot_id
                commit(catalog, "mine")
                assert [one.snapshot_id for one in catalog.snapshots()][-2] == start

    with ThreadPoolExecutor(writers + 12) as pool:
        others = [pool.submit(write) for _ in range(writers)]
        mine = [pool.submit(write_reserved) for _ in range(12)]  # more than can hold a turn at once
        try:
            for one in mine:
                one.result(TIMEOUT_SECONDS)
        finally:
            is_over.set()
        for one in others:
            one.result(TIMEOUT_SECONDS)
    assert snapshots_of(catalog).count("mine") == 24


def _reserve_and_die(place: Place, file: str) -> None:
    with place.open() as metastore:
        catalog = metastore.catalog("base")
        with catalog.database.turn(catalog.catalog_id) as turn, turn.reserve():
            commit(catalog, "mine")
            Path(file).touch()
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_killed_process_leaves_no_reservation(
    place: Place, catalog: Catalog, tmp_path: Path
) -> None:
    process = CONTEXT.Process(target=_reserve_and_die, args=(place, str(tmp_path / "reserved")))
    process.start()
    process.join(TIMEOUT_SECONDS)
    assert (tmp_path / "reserved").exists()
    with catalog.database.turn(catalog.catalog_id) as turn, turn.reserve():
        commit(catalog, "next")
    assert snapshots_of(catalog)[-2:] == ["mine", "next"]


@pytest.mark.parametrize("backend", ["postgresql"])
def test_server_that_ends_the_reserving_connection_breaks_no_commit(
    catalog: Catalog, shared_database: str
) -> None:
    database = catalog.database
    with database.turn(catalog.catalog_id) as turn, turn.reserve():
        with psycopg.connect(shared_database, autocommit=True) as admin:
            ended = admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE state = 'idle in transaction' AND query LIKE '%advisory%'"
            ).fetchall()
        assert ended == [(True,)]
        commit(catalog, "mine")
    commit(catalog, "next")
    assert snapshots_of(catalog)[-2:] == ["mine", "next"]
