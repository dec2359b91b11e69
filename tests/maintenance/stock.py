"""DuckLakes of the stock DuckDB extension, and their contents as it reads them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

Row = tuple[Any, ...]


def extension(name: str) -> Path:
    """Return the path of an extension in its wheel, for this version of DuckDB."""
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    assert found is not None, f"duckdb-extension-{name} is missing"
    assert found.origin is not None
    folder = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}"
    return folder / f"{name}.duckdb_extension"


@contextmanager
def stock(place: str, *extensions: str, **options: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that uses a DuckLake attached as `lake`."""
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        for name in (*extensions, "ducklake"):
            connection.execute(f"LOAD '{extension(name)}'")
        given = ", ".join(f"{name} {value!r}" for name, value in options.items())
        connection.execute(f"ATTACH 'ducklake:{place}' AS lake {given and f'({given})'}; USE lake")
        yield connection


def contents(
    connection: duckdb.DuckDBPyConnection, metadata_schema: str = "main"
) -> dict[tuple[int, str], list[Row]]:
    """Return the rows of every table at every snapshot, by snapshot and full name."""
    snapshots = [one for (one,) in connection.execute("SELECT snapshot_id FROM lake.snapshots()")
                 .fetchall()]  # fmt: skip
    metadata = f"__ducklake_metadata_lake.{metadata_schema}"
    found = {}
    for snapshot in snapshots:
        at = f"{snapshot} >= {{0}}.begin_snapshot AND ({{0}}.end_snapshot IS NULL OR {snapshot} < "
        at += "{0}.end_snapshot)"
        names = connection.execute(
            f"SELECT s.schema_name, t.table_name FROM {metadata}.ducklake_table t"
            f" JOIN {metadata}.ducklake_schema s USING (schema_id)"
            f" WHERE {at.format('t')} AND {at.format('s')}"
        ).fetchall()
        for schema, table in names:
            rows = connection.sql(f'FROM lake."{schema}"."{table}" AT (VERSION => {snapshot})')
            found[snapshot, f"{schema}.{table}"] = normal(rows.to_arrow_table())
    return found


def normal(table: Any) -> list[Row]:
    """Return the rows of an Arrow table in a form and order that can be compared."""
    return ordered(row.values() for row in table.to_pylist())


def ordered(rows: Iterable[Iterable[Any]]) -> list[Row]:
    """Return Python rows in a form and order that can be compared."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((name, _plain(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if type(value).__name__ == "Decimal":
        return f"{value.normalize():f}"
    if type(value).__name__ == "UUID":
        return str(value)
    return str(value) if type(value) is int else value
