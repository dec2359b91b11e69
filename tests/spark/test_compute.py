"""DuckDB nodes over a catalog, which must return the same rows as Spark."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forklake import Session
from forklake.engines.local.compute.node import Node
from forklake.errors import Forbidden, InvalidInput, NotFound

NESTED = (
    "CREATE TABLE n (id INTEGER, s STRUCT(a INTEGER, b VARCHAR), l STRUCT(x INTEGER)[],"
    " m MAP(VARCHAR, STRUCT(y INTEGER)), u UUID, big UBIGINT, j JSON, d DECIMAL(9,2),"
    " t TIMESTAMPTZ)"
)
ROW = (
    "(1, {'a': 1, 'b': 'x'}, [{'x': 1}], MAP {'k': {'y': 1}},"
    " '5f4e3d2c-1b0a-4958-8776-655443322110', 18446744073709551615,"
    " '{\"a\": 1}', 1.25, '2026-01-02 03:04:05.678+00')"
)
STATEMENTS = (
    NESTED,
    f"INSERT INTO n VALUES {ROW}",
    "CREATE TABLE t AS SELECT i::INTEGER AS id, 'n' || i AS name FROM range(50) AS r(i)",
    "ALTER TABLE t ADD COLUMN extra INTEGER DEFAULT 7",
    "INSERT INTO t SELECT i, 'm' || i, i FROM range(50, 60) AS r(i)",
    "DELETE FROM t WHERE id % 7 = 3",
    "ALTER TABLE t RENAME name TO label",
    "ALTER TABLE t ALTER id SET DATA TYPE BIGINT",
    "INSERT INTO t VALUES (5000000000, NULL, NULL)",
    "UPDATE t SET label = 'changed' WHERE id < 5",
    "ALTER TABLE n ADD COLUMN s.c INTEGER",
    "ALTER TABLE n RENAME s.a TO aa",
    "ALTER TABLE n ADD COLUMN l.element.z VARCHAR",
    "INSERT INTO n (id, s) VALUES (2, {'aa': 5, 'b': NULL, 'c': 6})",
    "ALTER TABLE t DROP COLUMN extra",
    "ALTER TABLE t ADD COLUMN extra VARCHAR",
    'CREATE VIEW v (n, "the most") AS SELECT count(*), max(id) FROM t',
    "CREATE SCHEMA other",
    "CREATE TABLE other.p (k INTEGER, v VARCHAR)",
    "ALTER TABLE other.p SET PARTITIONED BY (k)",
    "INSERT INTO other.p SELECT i % 3, 'v' || i FROM range(9) AS r(i)",
    "CALL lake.merge_adjacent_files()",
)


def rows_of(table: pa.Table) -> Counter[str]:
    """Return rows as texts, which compare whatever their values are."""
    return Counter(str(row) for row in table.to_pylist())


def assert_same(session: Session, node: Node, *tables: str) -> None:
    """Check that DuckDB and Spark return the same rows."""
    for table in tables:
        found = node.sql(f"SELECT * FROM {table}")
        assert found is not None
        shown = session.sql(f"SELECT * FROM {table}").toArrow()
        assert found.columns == shown.column_names
        here = node.connection.sql("FROM shown")  # with DuckDB types
        cast = ", ".join(
            f'CAST("{name}" AS {kind}) AS "{name}"'
            for name, kind in zip(found.columns, found.types, strict=True)
        )
        assert rows_of(found.to_arrow_table()) == rows_of(here.project(cast).to_arrow_table()), (
            table
        )


def node_of(session: Session, alias: str = "lake", version: int | None = None) -> Node:
    """Return a node over the catalog of an alias."""
    return Node(session.attachment(alias).catalog, version=version)


@pytest.mark.parametrize("limit", [0, 5])
def test_rows_equal_those_of_spark(lake: Session, limit: int) -> None:
    lake.sql(f"CALL lake.set_option('data_inlining_row_limit', {limit})")
    with node_of(lake) as node:
        for number, statement in enumerate(STATEMENTS):
            lake.sql(statement)
            if number == 2:
                first = lake.attachment("lake").catalog.current_snapshot()
            if number in (5, 9, 13):
                assert_same(lake, node, "t", "n")
        assert_same(lake, node, "v", "other.p", "t", "n")
    lake.fork("lake", "agent", attach_as="agent")
    lake.sql("DELETE FROM agent.t WHERE id < 40; INSERT INTO agent.other.p VALUES (9, 'fork')")
    with node_of(lake, "agent") as fork, node_of(lake) as parent:
        lake.sql("USE agent")
        assert_same(lake, fork, "t", "v", "other.p", "n")
        lake.sql("USE lake")
        assert_same(lake, parent, "t", "v", "other.p")
    with node_of(lake, version=first) as past:
        assert past.sql("SELECT count(*) FROM t").fetchall() == [(50,)]  # type: ignore[union-attr]


def test_structs_with_only_new_fields_are_read(lake: Session) -> None:
    lake.sql("CREATE TABLE t (id INTEGER, s STRUCT(a INTEGER), l STRUCT(x INTEGER)[])")
    lake.sql("INSERT INTO t VALUES (1, {'a': 1}, [{'x': 1}, NULL]), (2, NULL, NULL), (3, NULL, [])")
    for change in (
        "ADD COLUMN s.b INTEGER DEFAULT 9",
        "DROP COLUMN s.a",
        "ADD COLUMN l.element.y VARCHAR",
        "DROP COLUMN l.element.x",
        "ADD COLUMN n STRUCT(c INTEGER)",
    ):
        lake.sql(f"ALTER TABLE t {change}")
    with node_of(lake) as node:
        assert_same(lake, node, "t")
        lake.sql("INSERT INTO t VALUES (4, {'b': 1}, [{'y': 'z'}], {'c': 3})")
        assert_same(lake, node, "t")


def test_defaults_with_very_long_numbers_are_read(lake: Session) -> None:
    lake.sql("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (2)")
    for name, kind, default in (
        ("big", "HUGEINT", "-12345678901234567890123456789012345678"),
        ("most", "UBIGINT", "18446744073709551615"),
        ("money", "DECIMAL(38,4)", "1234567890123456789012345678901234.5678"),
        ("small", "DECIMAL(38,4)", "1.5"),
    ):
        lake.sql(f"ALTER TABLE t ADD COLUMN {name} {kind} DEFAULT {default}")
    lake.sql("INSERT INTO t VALUES (3, 1, 2, 3, 4), (4, NULL, NULL, NULL, NULL)")
    with node_of(lake) as node:
        assert_same(lake, node, "t")
    chosen = lake.sql("SELECT id FROM t WHERE most = 18446744073709551615 ORDER BY id").collect()
    assert [row.id for row in chosen] == [1, 2]


def test_files_of_other_writers_are_read(lake: Session, tmp_path: Path) -> None:
    for key in ("a", "b c"):
        folder = tmp_path / "hive" / f"k={key.replace(' ', '%20')}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"id": [1, 2], "x": ["p", None]}), folder / "1.parquet")
    lake.sql("CREATE TABLE h (id BIGINT, k VARCHAR, more INTEGER)")
    lake.sql(
        f"CALL ducklake_add_data_files('lake', 'h', '{tmp_path}/hive/*/*.parquet',"
        " hive_partitioning => true, ignore_extra_columns => true, allow_missing => true)"
    )
    lake.sql("DELETE FROM h WHERE id = 2 AND k = 'a'")
    with node_of(lake) as node:
        assert_same(lake, node, "h")


FEW = "VALUES (0, 0.5, {'x': 0.5}), (1, 'NaN', {'x': 'NaN'})"  # written without Spark
MANY = (
    "SELECT i, CASE i WHEN 1 THEN 'NaN'::DOUBLE ELSE 0.5 END AS d, {'x': d::REAL}"
    " FROM range(5000) AS r(i)"
)


@pytest.mark.parametrize("rows", [FEW, MANY])
def test_nan_is_never_pruned(lake: Session, rows: str) -> None:
    lake.sql(f"CREATE TABLE t (id INTEGER, d DOUBLE, s STRUCT(x REAL)); INSERT INTO t {rows}")
    with node_of(lake) as node:
        node.prepare("FROM t")
        for column in ("d", "s.x"):
            for condition in ("> 5", ">= 5", "= 'NaN'", "BETWEEN 5 AND 'NaN'", "IN (5, 'NaN')"):
                text = f"SELECT id FROM t WHERE {column} {condition}"
                assert node.connection.sql(text).fetchall() == [(1,)], text
                assert [row.id for row in lake.sql(text).collect()] == [1], text
            small = f"SELECT id FROM t WHERE {column} < 5 AND id < 2"
            assert node.connection.sql(small).fetchall() == [(0,)]
            assert [row.id for row in lake.sql(small).collect()] == [0]


def test_errors_are_forklake_errors(lake: Session) -> None:
    lake.sql("CREATE TABLE t AS SELECT 1 AS id")
    with node_of(lake) as node:
        with pytest.raises(NotFound, match="nothing"):
            node.sql("SELECT * FROM nothing")
        with pytest.raises(InvalidInput):
            node.sql("SELEC 1 FRO")
        for change in ("INSERT INTO t VALUES (2)", "DROP TABLE t", "DELETE FROM main.T"):
            with pytest.raises(Forbidden, match="belongs to the catalog"):
                node.sql(change)
        node.sql("CREATE TABLE mine AS SELECT id + 1 AS id FROM t")
        assert node.sql("FROM mine").fetchall() == [(2,)]  # type: ignore[union-attr]
        assert node.sql("SELECT id FROM t").fetchall() == [(1,)]  # type: ignore[union-attr]


def test_timestamps_with_time_zone_and_columns_named_at_are_read(lake: Session) -> None:
    lake.execute("CREATE TABLE e (at TIMESTAMPTZ, kind VARCHAR)")
    lake.execute("INSERT INTO e VALUES ('2024-01-01 00:00:00+01', 'at')")
    with node_of(lake) as node:
        for query in ("SELECT at FROM e", "SELECT e.at FROM e WHERE at > '2020-01-01' ORDER BY At"):
            found = node.sql(query)
            assert found is not None
            assert found.fetchall() == [(datetime(2023, 12, 31, 23, tzinfo=UTC),)]
        named = node.sql("SELECT kind AS at, 'at' AS \"is at\" FROM e -- at")
        assert named is not None
        assert named.fetchall() == [("at", "at")]
