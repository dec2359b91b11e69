"""DuckDB as a calculator: casts and constant expressions, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import duckdb

from forklake.spark import evaluation

_guard = threading.Lock()
_running: dict[int, duckdb.DuckDBPyConnection] = {}  # by thread
# So that no expression takes the memory of the process.
_MEMORY = "1GB"


@contextmanager
def calculator() -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor of a database of nothing, which sees no files and no network."""
    with _guard:
        cursor = _running[threading.get_ident()] = _database().cursor()
    try:
        yield cursor
    finally:
        with _guard:
            _running.pop(threading.get_ident(), None)
        cursor.close()


def interrupt(thread: int) -> None:
    """Stop what a thread computes, if it does; it gets an error."""
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
