"""A MariaDB server dies at any moment and comes back: every commit applies exactly once."""

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

# Starting a server takes its time: every phase of a commit, and the end of a fork.
KILLED = [case for case in CASES if case[0] == "commit" or case == ("fork", "fork.prepared")]


@pytest.fixture(scope="module")
def server() -> Iterator[MariadbServer]:
    """A server to kill, over and over."""
    require_mariadb()
    with MariadbServer() as found:
        yield found


@pytest.fixture
def place(server: MariadbServer) -> Iterator[Place]:
    """A place for a metastore on that server."""
    with mysql_database(server.address()) as found:
        yield found


def cut_power(server: MariadbServer) -> None:
    """The server ends at once, and starts again."""
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


def test_a_server_that_is_gone_is_told_and_one_that_is_back_is_used(
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
