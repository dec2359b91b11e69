"""The 22 queries of TPC-H in the DuckDB dialect, with equal results of Spark and DuckDB.

The tables are in a lake; every fourth query also runs on a fork of it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from forklake.engines.spark.engine import Engine
from forklake.sql.session import Session
from tests.sql.comparing import Row, rows_of, same_rows

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
# The smallest scale with results for all queries; FORKLAKE_SCALE=0.1 for more rows.
SCALE = float(os.environ.get("FORKLAKE_SCALE", "0.02"))
Answer = tuple[list[str], list[Row]]  # names and rows


def _extension(name: str) -> Path:
    """Return the path of an extension in its wheel, for this version of DuckDB."""
    found: Any = importlib.util.find_spec(f"duckdb_extension_{name}")
    folder = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}"
    return folder / f"{name}.duckdb_extension"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tables as Parquet files."""
    return tmp_path_factory.mktemp("tpch")


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, Answer]:
    """Return the results of DuckDB by query."""
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        connection.execute(f"LOAD '{_extension('tpch')}'")
        connection.execute(f"CALL dbgen(sf = {SCALE})")
        for name in TABLES:
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
            connection.execute(f"DROP TABLE {name}")
            connection.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
        queries = connection.execute("SELECT query FROM tpch_queries() ORDER BY query_nr")
        return {text: _answer(connection, text) for [text] in queries.fetchall()}


def _answer(connection: duckdb.DuckDBPyConnection, text: str) -> Answer:
    found = connection.execute(text).to_arrow_table()
    return found.column_names, rows_of(found)


@pytest.fixture(scope="module")
def tables(engine: Engine, folder: Path, expected: dict[str, Answer]) -> Iterator[Session]:
    """Yield a session with the tables in a catalog, and a fork of it."""
    with Session(engine.spark) as session:
        session.attach(
            f"ducklake:{folder / 'meta.db'}",
            "lake",
            catalog="tpch",
            data_path=str(folder / "data"),
            create_if_not_exists=True,
        )
        session.use("lake")
        for name in TABLES:
            rows = session.engine.spark.read.parquet(str(folder / f"{name}.parquet"))
            session.write(rows, name, mode="error")
        session.fork("lake", "f", attach_as="f")
        yield session


@pytest.mark.slow
@pytest.mark.parametrize(("catalog", "every"), [("lake", 1), ("f", 4)])
def test_all_queries_give_the_results_of_duckdb(
    tables: Session, expected: dict[str, Answer], catalog: str, every: int
) -> None:
    assert len(expected) == 22
    assert all(rows for _, rows in expected.values())
    tables.use(catalog)
    assert not _wrong(tables, dict(list(expected.items())[::every]))


def _wrong(lake: Session, expected: dict[str, Answer]) -> list[str]:
    """Return the queries whose results differ; all of them are ordered."""
    wrong = []
    for query, (names, rows) in expected.items():
        found = lake.sql(query).toArrow()
        if found.column_names != names or not same_rows(rows, rows_of(found), in_order=True):
            wrong.append(f"{query}\nDuckDB: {names} {rows[:3]}\nSpark: {found.slice(0, 3)}")
    return wrong
