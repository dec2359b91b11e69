"""Readers of Delta tables by other projects, and a canonical form to compare their rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import deltalake
import duckdb
import polars
import pyarrow as pa

from tests.maintenance.stock import extension

Rows = Counter[tuple[Any, ...]]
Answer = Rows | Exception


def read_everywhere(path: str, version: int | None = None) -> dict[str, Answer]:
    """Return the rows of a table as each reader sees them, or the error of the reader."""
    return {name: _answer(read, path, version) for name, read in READERS.items()}


def canonical_rows(table: pa.Table) -> Rows:
    """Return the rows of a table as a multiset of values, with columns sorted by name."""
    names = sorted(table.column_names)
    columns = ([_canonical(one) for one in table[name].to_pylist()] for name in names)
    return Counter(zip(*columns, strict=True))


def _canonical(value: Any) -> Any:
    """Return a form that is equal for all representations of the same value."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case Decimal():
            return value.normalize()
        case datetime(tzinfo=zone) if zone is not None:
            return value.astimezone(UTC)
        case Mapping():
            return tuple(sorted((name, _canonical(one)) for name, one in value.items()))
        case list() | tuple():
            return tuple(map(_canonical, value))
        case _:
            return value


def _answer(read: Callable[[str, int | None], pa.Table], path: str, version: int | None) -> Answer:
    try:
        return canonical_rows(read(path, version))
    except Exception as reason:  # noqa: BLE001 - readers raise errors of many types
        return reason


def _by_deltalake(path: str, version: int | None) -> pa.Table:
    table = deltalake.DeltaTable(path, version=version)
    query = deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t")
    return pa.table(query.read_all())


def _by_deltalake_and_pyarrow(path: str, version: int | None) -> pa.Table:
    return deltalake.DeltaTable(path, version=version).to_pyarrow_table()


def _by_duckdb(path: str, version: int | None) -> pa.Table:
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        for name in ("parquet", "delta"):
            connection.execute(f"LOAD '{extension(name) if name == 'delta' else name}'")
        at = "" if version is None else f", version = {version}"
        return connection.execute(f"FROM delta_scan('{path}'{at})").to_arrow_table()


def _by_polars(path: str, version: int | None) -> pa.Table:
    return polars.scan_delta(path, version=version).collect().to_arrow()


READERS: dict[str, Callable[[str, int | None], pa.Table]] = {
    "deltalake": _by_deltalake,
    "deltalake and pyarrow": _by_deltalake_and_pyarrow,
    "duckdb": _by_duckdb,
    "polars": _by_polars,
}
