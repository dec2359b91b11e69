"""A MariaDB server killed at any phase and restarted: every commit applies exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from forklake.errors import Unavailable
from tests.concurrency.consistency import problems
from tests.concurrency.interruptions import CASES, finish, once_at
from tests.concurrency.worlds import OPERATIONS, expected, prepare, world
from tests.fix_mariadb import MariadbServer, require_mariadb
from tests.fix_metastore import Place, mysql_database

pytestmark = pytest.mark.mysql

# Server starts are slow: only the phases of a commit, and one of a fork.
KILLED = [case for case in CASES if case[0] == "commit" or case == ("fork", "fork.prepared")]


@pytest.fixture(scope="module")
def server() -> Iterator[MariadbServer]:
    """Yield a server that is killed repeatedly."""
    require_mariadb()
    with MariadbServer() as found:
        yield found


@pytest.fixture
def place(server: MariadbServer) -> Iterator[Place]:
    """Yield a place for a metastore on that server."""
    with mysql_database(server.address()) as found:
        yield found


def cut_power(server: MariadbServer) -> None:
    """Kill the server, and start it again."""
    server.kill()
    server.start()


@pytest.mark.parametrize(("operation", "phase"), KILLED)
def test_a_killed_server_leaves_all_or_nothing(
    server: MariadbServer, place: Place, operation: str, phase: str
) -> None:
    with place.open() as metastore:
        prepare(metastore)
        OPERATIONS[operation](metastore, 1)
        with once_at(phase, partial(cut_power, server)) as happened:
            OPERATIONS[operation](metastore, 2)
        assert happened.is_set()
        assert world(metastore) == expected(operation, 2)
        finish(metastore, operation, 3)
        assert world(metastore) == expected(operation, 3)
    assert problems(place, every_snapshot=True) == []


def test_a_lost_server_is_reported_and_a_restarted_one_used(
    server: MariadbServer, place: Place
) -> None:
    with place.open() as metastore:
        metastore.create_catalog("kept")
        server.stop()
        with pytest.raises(Unavailable, match="did not answer"):
            metastore.count()
        server.start()
        assert metastore.count() == 1
        assert metastore.create_catalog("another").catalog_id == 2
