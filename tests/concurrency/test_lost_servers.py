"""A database server killed at any phase and restarted: every commit applies exactly once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import psycopg
import pytest

from tests.concurrency.consistency import problems
from tests.concurrency.interruptions import CASES, finish, once_at
from tests.concurrency.processes import Start, in_processes
from tests.concurrency.worlds import OPERATIONS, expected, prepare, world
from tests.concurrency.writers import append, make_catalog, table_of
from tests.fix_metastore import Place
from tests.fix_postgres import PostgresServer

# Killing a server is slow: for the other operations only connections are cut.
KILLED = [(operation, phase) for operation, phase in CASES if operation in ("commit", "fork")]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Yield a server that is killed repeatedly."""
    with PostgresServer() as found:
        yield found


@pytest.fixture
def place(server: PostgresServer) -> Iterator[Place]:
    """Yield a place for a metastore on that server."""
    if not server.running:
        server.start()
    name = f"metastore_{uuid.uuid4().hex}"
    yield Place("postgresql", f"ducklake:postgres:{server.dsn()}", name)
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())


def cut_power(server: PostgresServer) -> None:
    """Kill all processes of the server, and start it again."""
    server.kill()
    server.start()


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "phase"), KILLED)
def test_a_killed_server_leaves_all_or_nothing(
    server: PostgresServer, place: Place, operation: str, phase: str
) -> None:
    with place.open() as metastore:
        prepare(metastore)
        OPERATIONS[operation](metastore, 1)
        with once_at(phase, partial(cut_power, server)) as happened:
            OPERATIONS[operation](metastore, 2)
        assert happened.is_set()
    assert problems(place, every_snapshot=True) == []
    with place.open() as metastore:
        assert world(metastore) == expected(operation, 2)
        finish(metastore, operation, 3)
        assert world(metastore) == expected(operation, 3)
    assert problems(place, every_snapshot=True) == []


def append_many(place: Place, writer: int, count: int, start: Start) -> list[str]:
    """Append files, one per commit, and return their paths when all were acknowledged."""
    with place.open() as metastore:
        catalog = metastore.catalog("shared")
        table = table_of(catalog)
        start()
        return [
            append(catalog, table, f"{writer}-{number}.parquet").path for number in range(count)
        ]


def await_snapshot(
    server: PostgresServer, place: Place, number: int, writing: Future[list[list[str]]]
) -> None:
    """Return once there is a snapshot of that number, or all writers have ended."""
    text = f"SELECT max(snapshot_id) FROM {place.metadata_schema}.ducklake_snapshot"
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        while not writing.done() and connection.execute(text.encode()).fetchall()[0][0] < number:
            pass


@pytest.mark.slow
def test_no_acknowledged_commit_is_lost_among_many(server: PostgresServer, place: Place) -> None:
    writers, commits, power_cuts = 8, 40, 3
    with place.open() as metastore:
        make_catalog(metastore, "shared")
    jobs = [partial(append_many, place, number, commits) for number in range(writers)]
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(in_processes, jobs)
        for number in range(1, power_cuts + 1):
            # The server dies after each part of the work, while writers run.
            due = number * writers * commits // (power_cuts + 1)
            await_snapshot(server, place, due, writing)
            cut_power(server)
        acknowledged = [path for paths in writing.result() for path in paths]
    with place.open() as metastore:
        catalog = metastore.catalog("shared")
        files = catalog.now().data_files(table_of(catalog))
        assert sorted(file.path for file in files) == sorted(acknowledged)
        assert len(catalog.snapshots()) == 2 + writers * commits
    assert problems(place) == []
