"""Stock DuckLake for comparison: DuckDB with its ducklake extension on the same PostgreSQL."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterable
from pathlib import Path

import duckdb
import psycopg

from benchmarks.crew import Work

_EXTENSIONS = ("postgres_scanner", "ducklake")


def _extension(name: str) -> Path:
    """Return the file of an extension, which its wheel installed for this version of DuckDB."""
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    if found is None or found.origin is None:
        raise RuntimeError(f"The package duckdb-extension-{name} is not installed.")
    folder = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}"
    return folder / f"{name}.duckdb_extension"


def attach(dsn: str, data_path: str, schema: str, *, inlines: bool) -> duckdb.DuckDBPyConnection:
    """Attach the catalog of a metadata schema as `lake`; create it if it does not exist."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    for name in _EXTENSIONS:
        connection.execute(f"LOAD '{_extension(name)}'")
    limit = 10 if inlines else 0
    connection.execute(
        f"ATTACH 'ducklake:postgres:{dsn}' AS lake (DATA_PATH '{data_path}',"
        f" METADATA_SCHEMA '{schema}', DATA_INLINING_ROW_LIMIT {limit})"
    )
    return connection


Place = tuple[str, str]  # the metadata schema of a catalog, and a table in the catalog


def create_tables(dsn: str, data_path: str, places: Iterable[Place], *, inlines: bool) -> None:
    """Create catalogs and tables with a row each, in sequence: concurrent creation would fail."""
    for schema, table in dict.fromkeys(places):
        with psycopg.connect(dsn, autocommit=True) as administrator:
            administrator.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'.encode())
        with attach(dsn, f"{data_path}/{schema}/", schema, inlines=inlines) as connection:
            connection.execute(f"CREATE TABLE lake.{table} (c0 BIGINT, c1 BIGINT, c2 BIGINT)")
            connection.execute(f"INSERT INTO lake.{table} VALUES (0, 0, 0)")


def prepare_stock_writer(dsn: str, data_path: str, place: Place, inlines: bool) -> Work:
    """Prepare a process that inserts one row per commit."""
    schema, table = place
    connection = attach(dsn, f"{data_path}/{schema}/", schema, inlines=inlines)
    numbers = itertools.count()
    connection.execute(f"SELECT count(*) FROM lake.{table}").fetchall()

    def insert() -> None:
        number = next(numbers)
        values = f"{number}, {number + 1}, {number + 2}"
        connection.execute(f"INSERT INTO lake.{table} VALUES ({values})")

    return Work(insert, (duckdb.Error,), connection.close)
