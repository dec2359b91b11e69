"""Other people's readers of Delta tables, and rows in a form in which answers can be compared."""

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
    """The rows of a table as every reader sees them, or why it does not."""
    return {name: _answer(read, path, version) for name, read in READERS.items()}


def canonical_rows(table: pa.Table) -> Rows:
    """The rows of a table as a multiset of values, columns in the order of their names."""
    names = sorted(table.column_names)
    columns = ([_canonical(one) for one in table[name].to_pylist()] for name in names)
    return Counter(zip(*columns, strict=True))


def _canonical(value: Any) -> Any:
    """A value that is equal to, and hashes as, every other form of the same value."""
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
    except Exception as reason:  # noqa: BLE001 - readers fail in ways of their own
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
