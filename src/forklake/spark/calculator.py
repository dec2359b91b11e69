"""DuckDB as a calculator: casts and constant expressions, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import duckdb

_guard = threading.Lock()


@contextmanager
def calculator() -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor of a database of nothing, which sees no files and no network."""
    with _guard:
        cursor = _database().cursor()
    try:
        yield cursor
    finally:
        cursor.close()


@lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config={"threads": 1})
    database.execute(
        "SET TimeZone = 'UTC'; SET enable_external_access = false; SET lock_configuration = true"
    )
    return database
