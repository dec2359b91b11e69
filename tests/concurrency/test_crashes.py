"""A process killed at any phase: acknowledged work is complete, and the rest absent."""

from __future__ import annotations

import time

import pytest

from tests.concurrency.consistency import problems
from tests.concurrency.interruptions import CASES, finish, killed_at
from tests.concurrency.worlds import expected, prepare, world
from tests.fix_metastore import Place

AT_ONCE_SECONDS = 10.0


# On MySQL the transactions are those of PostgreSQL: commits are tested as representatives.
ON_MYSQL = [("mysql", *case) for case in CASES if case[0] == "commit"]


@pytest.mark.parametrize(
    ("backend", "operation", "phase"),
    [*((backend, *case) for backend in ("postgresql", "sqlite") for case in CASES), *ON_MYSQL],
)
def test_a_killed_process_leaves_all_or_nothing(place: Place, operation: str, phase: str) -> None:
    with place.open() as metastore:
        prepare(metastore)
        killed_at(phase, place, operation)
        died = time.monotonic()
        done = 2 if phase.endswith(".committed") else 1
        assert world(metastore) == expected(operation, done)
        assert problems(place, every_snapshot=True) == []

        finish(metastore, operation, done + 1)
        assert time.monotonic() - died < AT_ONCE_SECONDS  # no lock outlived its holder
        assert world(metastore) == expected(operation, 3)
    assert problems(place, every_snapshot=True) == []
