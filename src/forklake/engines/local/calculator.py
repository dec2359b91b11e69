"""Casts and constant expressions, evaluated by DuckDB without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import duckdb

from forklake.engines.local import evaluation

_guard = threading.Lock()
_running: dict[int, duckdb.DuckDBPyConnection] = {}  # by thread
# Limits the memory that one expression can take from the process.
_MEMORY = "1GB"


@contextmanager
def calculator() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a cursor of an empty database without access to files and network."""
    with _guard:
        cursor = _running[threading.get_ident()] = _database().cursor()
    try:
        yield cursor
    finally:
        with _guard:
            _running.pop(threading.get_ident(), None)
        cursor.close()


def interrupt(thread: int) -> None:
    """Stop the computation of a thread, if it runs one; the thread gets an error."""
    with _guard:
        cursor = _running.get(thread)
        if cursor is not None:
            cursor.interrupt()
    evaluation.stop(thread)


@lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config={"threads": 1})
    database.execute(
        f"SET memory_limit = '{_MEMORY}'; SET TimeZone = 'UTC';"
        " SET enable_external_access = false; SET lock_configuration = true"
    )
    return database
