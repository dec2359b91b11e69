"""Binding of queries: to tables with or without rows, and to results that exist already."""

from __future__ import annotations

import pyarrow as pa
import pytest

from forklake import Session
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.local_rows import create_dataframe
from forklake.errors import InvalidInput, NotFound
from forklake.sql.dialect import parse
from forklake.sql.query.binding import analyze_schema

_TABLE = """
    CREATE TABLE t (
        id BIGINT NOT NULL, small UTINYINT, big HUGEINT, price DECIMAL(9, 2), at TIMESTAMP,
        zoned TIMESTAMPTZ, day DATE, hour TIME, raw BLOB, id_text UUID, "odd, name" VARCHAR,
        inside STRUCT(a INT, b STRUCT("c d" DOUBLE)[]), counted MAP(VARCHAR, SMALLINT), ok BOOLEAN
    )
"""
_QUERIES = (
    "FROM t",
    "SELECT * EXCLUDE (raw), inside.a + small AS more, rowid FROM t",
    "SELECT x.id, y.price * x.price AS product FROM t x JOIN t y ON x.id = y.id AND y.rowid > 0",
    "SELECT day, count(*) AS n, list(hour) AS hours, max(filename) AS f FROM t GROUP BY ALL",
    "SELECT number, n FROM v WHERE number IN (SELECT id FROM t)",
    "SELECT * FROM above(1) JOIN same USING (id)",
)


def names_in(session: Session) -> list[str]:
    """Return our names that are registered in Spark."""
    listed = session.engine.spark.catalog.listTables()
    return [one.name for one in listed if one.name.startswith("__forklake")]


@pytest.fixture
def shop(lake: Session) -> Session:
    """Return a lake with two tables of many types, a view with other names and a table macro."""
    lake.execute(_TABLE)
    lake.execute(_TABLE.replace("TABLE t ", "TABLE same "))
    lake.execute('CREATE VIEW v(number) AS SELECT id, len("odd, name") AS n FROM t')
    lake.execute("CREATE MACRO above(n) AS TABLE SELECT * FROM t WHERE id > n")
    return lake


def test_query_shows_the_same_columns_with_rows_and_without(shop: Session) -> None:
    for text in _QUERIES:
        (query,) = parse(text)
        shown = [(one.name, one.dataType) for one in analyze_schema(shop, query)]
        assert shown == [(one.name, one.dataType) for one in shop.query(query).schema], text
    assert names_in(shop) == []


def test_query_gets_the_same_error_with_rows_and_without(shop: Session) -> None:
    for text in (
        "SELECT nope FROM t",
        "SELECT id FROM t WHERE inside",
        "SELECT id FROM t JOIN same ON t.id = same.id",
        "SELECT id FROM nope",
        "SELECT sum(id), day FROM t",
    ):
        (query,) = parse(text)
        with pytest.raises((InvalidInput, NotFound)) as without_rows:
            analyze_schema(shop, query)
        with pytest.raises(without_rows.type) as with_rows:
            shop.query(query)
        assert str(without_rows.value) == str(with_rows.value)
    assert names_in(shop) == []


def test_names_are_removed_after_the_statement(lake: Session) -> None:
    one = "SELECT count(*) AS n FROM lake.snapshots()"
    first, second = lake.sql(f"{one} UNION ALL {one}").collect()
    assert first == second
    assert names_in(lake) == []


def test_statement_may_refer_to_a_frame_of_another_spark_session(
    engine: Engine, lake: Session
) -> None:
    frame = engine.spark.range(3)
    assert lake.sql("SELECT sum(id) AS s FROM df", frames={"df": frame}).collect() == [(3,)]
    assert names_in(lake) == []


def test_results_of_repeated_statements_are_not_cached(lake: Session) -> None:
    for _ in range(2):
        assert lake.sql("CREATE SCHEMA s").collect() == [("CREATE SCHEMA",)]
        assert lake.sql("CREATE TABLE s.u(a INT)").collect() == [("CREATE TABLE",)]
        for count in (1, 2):
            values = ", ".join(["(7)"] * count)
            assert lake.sql(f"INSERT INTO s.u VALUES {values}").collect() == [(count,)]
        assert lake.sql("DROP SCHEMA s CASCADE").collect() == [("DROP SCHEMA",)]


def test_cached_single_row_frames_are_distinguished(lake: Session) -> None:
    values = [1, "1", None, 1.0, True, b"1", "x", [1], {"a": 1}]
    tables = [pa.table({name: [value]}) for value in values for name in ("a", "b")]
    tables.append(pa.table({"a": pa.array([1], pa.int32())}))
    for _ in range(2):
        for table in tables:
            frame = create_dataframe(lake.engine, table)
            assert frame.columns == table.column_names
            assert frame.toArrow().column(0).to_pylist() == table.column(0).to_pylist()
    assert create_dataframe(lake.engine, tables[-1]).dtypes == [("a", "int")]


def test_cache_of_single_row_frames_is_bounded(lake: Session) -> None:
    first = create_dataframe(lake.engine, pa.table({"n": [0]}))
    assert create_dataframe(lake.engine, pa.table({"n": [0]})) is first
    for number in range(1, 101):
        create_dataframe(lake.engine, pa.table({"n": [number]}))
    assert create_dataframe(lake.engine, pa.table({"n": [0]})) is not first
