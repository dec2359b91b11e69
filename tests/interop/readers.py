"""All readers of a lake: Spark, our DuckDB, stock DuckDB, and readers of Delta and Iceberg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import deltalake
import duckdb
import pyarrow as pa
from psycopg.conninfo import conninfo_to_dict
from pyiceberg.table import StaticTable

from tests.maintenance.stock import extension

VIEWS = "forklake_stock"


@contextmanager
def bare_duckdb(*extensions: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB with official extensions."""
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        for name in extensions:
            connection.execute(f"LOAD '{extension(name)}'")
        yield connection


def attach(
    connection: duckdb.DuckDBPyConnection,
    dsn: str,
    alias: str,
    *,
    mode: str = "READ_ONLY",
    schema: str = VIEWS,
    user: str = "",
    **settings: str,
) -> None:
    """Attach a catalog as stock DuckDB does: through the views, selected by settings."""
    given = {**conninfo_to_dict(dsn), **({"user": user} if user else {})}
    given["options"] = " ".join(f"-c forklake.{name}={value}" for name, value in settings.items())
    place = " ".join(f"{name}=''{value}''" for name, value in given.items() if value)
    connection.execute(
        f"ATTACH 'ducklake:postgres:{place}' AS {alias} (METADATA_SCHEMA '{schema}', {mode})"
    )


def by_pyiceberg(metadata: str, version: int | None = None, where: str | None = None) -> pa.Table:
    """Return an Iceberg table as pyiceberg reads it."""
    table = StaticTable.from_metadata(metadata)
    scan = table.scan(snapshot_id=version)
    return (scan.filter(where) if where else scan).to_arrow()


def by_duckdb_iceberg(metadata: str, version: int | None = None) -> pa.Table:
    """Return an Iceberg table as the DuckDB extension reads it."""
    at = "" if version is None else f", snapshot_from_id = {version}"
    with bare_duckdb("avro", "iceberg") as connection:
        return connection.execute(f"FROM iceberg_scan('{metadata}'{at})").to_arrow_table()


def by_deltalake(path: str) -> pa.Table:
    """Return a Delta table as delta-rs reads it."""
    table = deltalake.DeltaTable(path)
    query = deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t")
    return pa.table(query.read_all())
