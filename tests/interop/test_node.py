"""A DuckDB node over tables with files registered without Spark, with unusual names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import forklake
from forklake import Catalog, ColumnSpec, Metastore
from forklake.engines.local.compute.node import Node
from forklake.errors import AlreadyExists, Forbidden, NotFound, Unsupported
from forklake.model.types import list_of, map_of, struct
from tests.interop.files import add_rows

_PREFIXED = (
    "EXPLAIN SELECT at FROM t",
    "EXPLAIN ANALYZE FROM t",
    "EXPLAIN (FORMAT json) FROM t",
)


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    with forklake.open(f"ducklake:{tmp_path / 'meta.db'}", create=True) as found:
        yield found


@pytest.fixture
def sales(metastore: Metastore, tmp_path: Path) -> Catalog:
    return metastore.create_catalog("sales", data_path=str(tmp_path / "data"))


def create(catalog: Catalog, name: str, *columns: str) -> None:
    """Create a table of numbers."""
    with catalog.transaction() as transaction:
        transaction.create_table(name, [ColumnSpec(one, "bigint") for one in columns])


def delete(catalog: Catalog, table_name: str, position: int) -> None:
    """Delete one row of each file."""
    with catalog.transaction() as transaction:
        table = transaction.table(table_name)
        for file in transaction.data_files(table):
            transaction.delete_positions(table, file, [position])


def rows(node: Node, text: str) -> list[Any]:
    """Return the rows that a node returns for a query."""
    found = node.sql(text)
    assert found is not None
    return sorted(found.fetchall())


def test_a_node_follows_drops_renames_and_replacements(
    metastore: Metastore, sales: Catalog
) -> None:
    create(sales, "t", "id")
    create(sales, "u", "id")
    with metastore.duckdb("sales") as node:
        assert rows(node, "FROM t") == rows(node, "FROM u") == []
        node.sql("CREATE VIEW mine AS SELECT count(*) AS n FROM u")
        add_rows(sales, "u", {"id": [1]})
        assert rows(node, "FROM mine") == [(1,)]
        with sales.transaction() as transaction:
            transaction.drop_table("t")
            transaction.rename_table("u", "v")
        for gone in ("t", "u", "mine"):
            with pytest.raises(NotFound):
                node.sql(f"FROM {gone}")
        assert rows(node, "FROM v") == [(1,)]
        create(sales, "t", "other")
        assert rows(node, "SELECT other FROM t") == []


def test_a_local_table_of_the_node_is_not_replaced(metastore: Metastore, sales: Catalog) -> None:
    with metastore.duckdb("sales") as node:
        node.sql("CREATE TABLE t AS SELECT 1 AS own")
        create(sales, "t", "id")
        with pytest.raises(AlreadyExists, match="'t'"):
            node.sql("FROM t")


def test_files_without_statistics_are_read(metastore: Metastore, sales: Catalog) -> None:
    create(sales, "t", "id")
    add_rows(sales, "t", {"id": [1, 2]})
    with sales.transaction() as transaction:
        transaction.add_column(transaction.table("t"), ColumnSpec("d", "integer", default="7"))
    with metastore.duckdb("sales") as node:
        assert rows(node, "FROM t") == [(1, 7), (2, 7)]


def test_columns_may_have_names_of_duckdb_virtual_columns(
    metastore: Metastore, sales: Catalog
) -> None:
    names = ("filename", "_file", "file_row_number", "file_index", "pos")
    with metastore.duckdb("sales") as node:
        for name in names:
            create(sales, f"t_{name}", name, "o")
            for first in (0, 10):
                numbers = list(range(first, first + 5))
                add_rows(sales, f"t_{name}", {name: numbers, "o": numbers})
            assert len(rows(node, f"FROM t_{name} WHERE {name} > 2")) == 7
            delete(sales, f"t_{name}", 3)
            if name in ("file_row_number", "file_index"):
                with pytest.raises(Unsupported, match=f"'{name}'"):
                    node.sql(f"FROM t_{name}")
            else:
                found = rows(node, f"SELECT {name} FROM t_{name} WHERE {name} > 1")
                assert found == [(one,) for one in (2, 4, 10, 11, 12, 14)]


def test_names_beyond_ascii_and_of_duckdb_databases_work(
    metastore: Metastore, sales: Catalog
) -> None:
    with metastore.duckdb("sales") as node:
        for schema in ("Übung", "temp", "system", "memory"):
            with sales.transaction() as transaction:
                transaction.create_schema(schema)
                transaction.create_table("Größe", [ColumnSpec("Ä", "bigint")], schema=schema)
            place = f'"{schema}"."Größe"' if schema == "Übung" else f'memory.{schema}."Größe"'
            assert rows(node, f'SELECT "Ä" FROM {place}') == []
            with sales.transaction() as transaction:
                transaction.drop_table("Größe", schema=schema)
            with pytest.raises(NotFound):
                node.sql(f"FROM {place}")


def test_rows_of_the_metastore_keep_nested_values(metastore: Metastore, sales: Catalog) -> None:
    columns = [
        ColumnSpec("numbers", list_of("double")),
        ColumnSpec("maps", list_of(map_of("varchar", "integer"))),
        ColumnSpec("by_day", map_of("date", "decimal(38, 2)")),
        ColumnSpec("wide", struct(h="hugeint", u="uuid", b=list_of("blob"))),
    ]
    with sales.transaction() as transaction:
        transaction.create_table("t", columns)
        transaction.insert_rows(
            transaction.table("t"),
            [
                {
                    "numbers": [math.nan, None, math.inf],
                    "maps": [{"a": 1}, {}, None],
                    "by_day": {date(1969, 12, 31): Decimal("-1.50")},
                    "wide": {"h": 10**37, "u": str(UUID(int=1)), "b": [b"\x00\xff", None]},
                },
                dict.fromkeys(("numbers", "maps", "by_day", "wide")),
            ],
        )
    with metastore.duckdb("sales") as node:
        found = node.sql("SELECT isnan(numbers[1]), numbers[2:], maps, by_day, wide FROM t")
        assert found is not None
        assert found.fetchall() == [
            (
                True,
                [None, math.inf],
                [{"a": 1}, {}, None],
                {date(1969, 12, 31): Decimal("-1.50")},
                {"h": 10**37, "u": UUID(int=1), "b": [b"\x00\xff", None]},
            ),
            (None,) * 5,
        ]


def test_keywords_may_be_names_of_fields_and_of_columns_of_views(
    metastore: Metastore, sales: Catalog
) -> None:
    with sales.transaction() as transaction:
        fields = struct(at="bigint", order="date")
        transaction.create_table("t", [ColumnSpec("at", "bigint"), ColumnSpec("s", fields)])
        transaction.create_view("v", "SELECT at, s.order FROM t")
        transaction.insert_rows(transaction.table("t"), [{"at": 1, "s": {"at": 2, "order": None}}])
    with metastore.duckdb("sales") as node:
        assert rows(node, "SELECT s.at FROM t") == [(2,)]
        assert rows(node, "FROM v") == [(1, None)]


def test_a_table_may_be_named_first_in_a_statement_with_a_prefix(
    metastore: Metastore, sales: Catalog
) -> None:
    create(sales, "t", "at")
    add_rows(sales, "t", {"at": [1]})
    for text in (
        "EXPLAIN SELECT at FROM t",
        "EXPLAIN ANALYZE FROM t",
        "EXPLAIN (FORMAT json) FROM t",
    ):
        with metastore.duckdb("sales") as node:
            assert len(rows(node, text)) == 1
    with metastore.duckdb("sales") as node:
        node.sql("PREPARE p AS SELECT at FROM t")
        assert rows(node, "EXECUTE p") == [(1,)]
        with pytest.raises(Forbidden):
            node.sql("EXPLAIN ANALYZE DELETE FROM t")
