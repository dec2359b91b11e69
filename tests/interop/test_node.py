"""A node of DuckDB over tables whose files were registered without Spark, whatever their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake import Catalog, ColumnSpec, Metastore
from forklake.catalog.compute.node import Node
from forklake.errors import AlreadyExists, NotFound, Unsupported
from tests.interop.files import add_rows


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    with forklake.open(f"ducklake:{tmp_path / 'meta.db'}", create=True) as found:
        yield found


@pytest.fixture
def sales(metastore: Metastore, tmp_path: Path) -> Catalog:
    return metastore.create_catalog("sales", data_path=str(tmp_path / "data"))


def create(catalog: Catalog, name: str, *columns: str) -> None:
    """A table of numbers."""
    with catalog.transaction() as transaction:
        transaction.create_table(name, [ColumnSpec(one, "bigint") for one in columns])


def delete(catalog: Catalog, table_name: str, position: int) -> None:
    """Delete a row of each file."""
    with catalog.transaction() as transaction:
        table = transaction.table(table_name)
        for file in transaction.data_files(table):
            transaction.delete_positions(table, file, [position])


def rows(node: Node, text: str) -> list[Any]:
    """What a node answers."""
    found = node.sql(text)
    assert found is not None
    return sorted(found.fetchall())


def test_a_node_forgets_what_is_dropped_renamed_or_replaced(
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


def test_a_table_of_ones_own_is_not_replaced(metastore: Metastore, sales: Catalog) -> None:
    with metastore.duckdb("sales") as node:
        node.sql("CREATE TABLE t AS SELECT 1 AS own")
        create(sales, "t", "id")
        with pytest.raises(AlreadyExists, match="'t'"):
            node.sql("FROM t")


def test_files_without_statistics_are_looked_into(metastore: Metastore, sales: Catalog) -> None:
    create(sales, "t", "id")
    add_rows(sales, "t", {"id": [1, 2]})
    with sales.transaction() as transaction:
        transaction.add_column(transaction.table("t"), ColumnSpec("d", "integer", default="7"))
    with metastore.duckdb("sales") as node:
        assert rows(node, "FROM t") == [(1, 7), (2, 7)]


def test_columns_may_be_named_as_duckdb_names_its_own(metastore: Metastore, sales: Catalog) -> None:
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


def test_names_beyond_ascii_and_of_duckdbs_own_databases(
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
