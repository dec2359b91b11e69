"""Waiting until an action waits for a lock, on PostgreSQL."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

import psycopg

from tests.concurrency.processes import TIMEOUT_SECONDS
from tests.fix_metastore import Place

_WAITING = """
    SELECT count(DISTINCT l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE NOT l.granted AND a.datname = current_database()
"""


def waits(place: Place, action: Future[Any], *, count: int = 1) -> bool:
    """Return whether an action waits for a lock as the last of `count`; False once it ended."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    with psycopg.connect(place.uri.split(":", 2)[2], autocommit=True) as connection:
        while time.monotonic() < deadline:
            if action.done():
                return False
            ((waiting,),) = connection.execute(_WAITING).fetchall()
            if waiting >= count:
                return True
    raise AssertionError("it neither waits nor ends")


def until_waiting(place: Place, action: Future[Any], *, count: int = 1) -> None:
    """Return once an action waits for a lock as the last of `count`."""
    assert waits(place, action, count=count), action.result()
