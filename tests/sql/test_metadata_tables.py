"""Tables of the metastore in SQL on every backend, and listings of attached catalogs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from forklake import Session
from forklake.errors import AlreadyExists, NotFound
from forklake.sql.functions.information import call_information_function, find_information_table
from forklake.sql.functions.metadata import find_metadata_table
from forklake.store.tables import table_names
from tests.fix_metastore import Place
from tests.sql.test_functions import rows


def read(session: Session, *parts: str) -> list[dict[str, Any]]:
    """Return all rows of a table of the metastore."""
    found = find_metadata_table(session, parts)
    assert found is not None
    return list(found.to_pylist())


@pytest.fixture
def anywhere(place: Place, tmp_path: Path) -> Any:
    """Yield a session on a metastore of each backend, with one table with a row."""
    with Session() as session:
        session.attach(
            place.uri,
            "lake",
            catalog="sales",
            data_path=str(tmp_path / "data"),
            metadata_schema=place.metadata_schema,
            data_inlining_row_limit=10,
            create_if_not_exists=True,
        )
        session.use("lake")
        session.execute("CREATE TABLE t (a INTEGER, b VARCHAR, c BLOB, d BOOLEAN)")
        session.execute("INSERT INTO t VALUES (7, 'x', 'yz'::BLOB, true)")
        yield session
        assert session._engine is None


# The types of some columns, equal in all tables.
TYPES = {
    "depth": pa.int64(),
    "delete_file_id": pa.int64(),
    "data_change": pa.bool_(),
    "path_is_relative": pa.bool_(),
    "snapshot_time": pa.timestamp("us", "UTC"),
}


def test_every_table_can_be_read_with_its_types(anywhere: Session) -> None:
    database = anywhere.attachment("lake").metastore.database
    names = table_names(database)
    assert {"ducklake_snapshot", "ducklake_metadata", "ducklake_file_column_stats"} <= set(names)
    for name in names:
        found = find_metadata_table(anywhere, ("__ducklake_metadata_lake", name))
        assert found is not None
        assert found.num_columns > 1
        for field in found.schema:
            assert field.type == TYPES.get(field.name, field.type)
    (table,) = read(anywhere, "__ducklake_metadata_lake", "main", "ducklake_table")
    assert isinstance(table.pop("table_uuid"), str)
    assert table == {
        "catalog_id": 0,
        "table_id": 2,
        "begin_snapshot": 2,
        "end_snapshot": None,
        "schema_id": 1,
        "table_name": "t",
        "path": "t/",
        "path_is_relative": True,
    }
    snapshots = read(anywhere, "__DUCKLAKE_METADATA_LAKE", "public", "DuckLake_Snapshot")
    assert sorted(row["snapshot_id"] for row in snapshots) == [0, 1, 2, 3]
    for row in snapshots:
        assert abs((datetime.now(UTC) - row["snapshot_time"]).total_seconds()) < 600
    inlined = next(name for name in names if name.startswith("ducklake_inlined_data_2_"))
    (row,) = read(anywhere, "__ducklake_metadata_lake", inlined)
    assert [row[f"c{number}"] for number in (1, 2, 3, 4)] == [7, "x", b"yz", True]


def test_only_tables_of_the_metastore_can_be_read(anywhere: Session) -> None:
    with anywhere.attachment("lake").metastore.database.writing() as connection:
        connection.fetch("CREATE TABLE salaries (amount BIGINT)")
        connection.commit()
    for table in ("salaries", "sqlite_master", "pg_class", 'ducklake_table"; SELECT 1', "nope"):
        with pytest.raises(NotFound, match="does not exist in the metastore"):
            find_metadata_table(anywhere, ("__ducklake_metadata_lake", table))
    with pytest.raises(NotFound, match="Did you mean 'ducklake_snapshot'"):
        find_metadata_table(anywhere, ("__ducklake_metadata_lake", "ducklake_snapshots"))
    with pytest.raises(NotFound, match=r"Schema '__ducklake_metadata_lake\.pg_catalog'"):
        find_metadata_table(anywhere, ("__ducklake_metadata_lake", "pg_catalog", "pg_class"))
    assert find_metadata_table(anywhere, ("lake", "ducklake_table")) is None
    assert find_metadata_table(anywhere, ("ducklake_table",)) is None


def test_the_metastore_can_have_another_alias(dry: Session, tmp_path: Path) -> None:
    uri = f"ducklake:{tmp_path / 'meta.db'}"
    dry.execute(f"ATTACH '{uri}' AS twin (CATALOG 'sales', METADATA_CATALOG 'meta')")
    assert len(read(dry, "meta", "ducklake_catalog")) == 1
    assert find_metadata_table(dry, ("__ducklake_metadata_twin", "ducklake_catalog")) is None
    for alias, name in (("meta", None), ("third", "lake"), ("third", "META")):
        with pytest.raises(AlreadyExists, match="the alias already exists"):
            dry.attach(uri, alias, catalog="sales", metadata_catalog=name)


def test_metadata_tables_can_be_used_in_queries(lake: Session) -> None:
    lake.execute("CREATE TABLE t (a INTEGER); CALL lake.fork_catalog('x')")
    assert rows(
        lake,
        """
        SELECT c.catalog_name, t.table_name, s.snapshot_id
        FROM __ducklake_metadata_lake.ducklake_catalog AS c
        LEFT JOIN __ducklake_metadata_lake.main.ducklake_table AS t USING (catalog_id)
        JOIN __ducklake_metadata_lake.ducklake_snapshot AS s ON s.snapshot_id = c.begin_snapshot
        WHERE c.catalog_id >= 0 ORDER BY 1
        """,
    ) == [("sales", "t", 1), ("x", None, 3)]


# Listings of attached catalogs


def test_information_schema_lists_attached_catalogs(dry: Session) -> None:
    dry.execute("COMMENT ON TABLE t IS 'rows'; COMMENT ON COLUMN t.a IS 'key'")
    dry.execute("ALTER TABLE t ADD COLUMN c DECIMAL(9, 2) DEFAULT 1.5")

    def listed(name: str, *shown: str) -> list[tuple[Any, ...]]:
        found = find_information_table(dry, ("information_schema", name))
        assert found is not None
        assert find_information_table(dry, ("LAKE", "Information_Schema", name.upper())) == found
        return [tuple(row[key] for key in shown) for row in found.to_pylist()]

    assert listed("schemata", "catalog_name", "schema_name") == [("lake", "main"), ("lake", "s2")]
    assert listed("tables", "table_schema", "table_name", "table_type", "TABLE_COMMENT") == [
        ("main", "t", "BASE TABLE", "rows"),
        ("s2", "u", "BASE TABLE", None),
    ]
    shown = ("column_name", "ordinal_position", "column_default", "is_nullable", "data_type")
    assert listed("columns", *shown, "numeric_scale", "COLUMN_COMMENT") == [
        ("a", 1, None, "NO", "INTEGER", None, "key"),
        ("b", 2, None, "YES", "VARCHAR", None, None),
        ("c", 3, "1.50", "YES", "DECIMAL(9,2)", 2, None),
        ("k", 1, None, "YES", "BIGINT", None, None),
    ]
    assert listed("views") == []
    with pytest.raises(NotFound, match="Did you mean 'tables'"):
        find_information_table(dry, ("information_schema", "table"))
    with pytest.raises(NotFound, match="No catalog is attached as 'nope'"):
        find_information_table(dry, ("nope", "information_schema", "tables"))
    assert find_information_table(dry, ("main", "tables")) is None


def test_listing_functions(dry: Session, tmp_path: Path) -> None:
    def listed(name: str) -> list[dict[str, Any]]:
        found = call_information_function(dry, (name,))
        assert found is not None
        return list(found.to_pylist())

    table, _ = listed("duckdb_tables")
    assert (table["database_name"], table["table_oid"], table["column_count"]) == ("lake", 2, 2)
    assert table["estimated_size"] == 2
    assert dict(table["tags"]) == {"data_path": f"{tmp_path / 'data'}/sales/main/t/"}
    assert table["sql"] == "CREATE TABLE t(a INTEGER NOT NULL, b VARCHAR);"
    assert [one["column_name"] for one in listed("duckdb_columns")] == ["a", "b", "k"]
    assert [one["schema_name"] for one in listed("DuckDB_Schemas")] == ["main", "s2"]
    assert listed("duckdb_views") == []
    (database,) = listed("duckdb_databases")
    assert (database["type"], database["readonly"]) == ("ducklake", False)
    assert call_information_function(dry, ("duckdb_nothing",)) is None


def test_listings_see_the_open_transaction(dry: Session) -> None:
    dry.execute("BEGIN; CREATE TABLE fresh (x INTEGER)")
    found = call_information_function(dry, ("duckdb_tables",))
    assert found is not None
    sizes = {row["table_name"]: row["estimated_size"] for row in found.to_pylist()}
    assert sizes == {"fresh": 0, "t": 2, "u": 0}


def test_listings_can_be_used_in_queries(lake: Session) -> None:
    lake.execute("CREATE TABLE t (a INTEGER); CREATE VIEW v (x) AS SELECT a FROM t")
    views = "SELECT view_name, sql FROM duckdb_views()"
    assert rows(lake, views) == [("v", "CREATE VIEW v(x) AS SELECT a FROM lake.main.t;")]
    tables = "SELECT table_name, tags['data_path'] LIKE '%/main/t/' FROM duckdb_tables()"
    assert rows(lake, tables) == [("t", True)]
    kinds = "SELECT table_name, table_type FROM lake.information_schema.tables ORDER BY 1"
    assert rows(lake, kinds) == [("t", "BASE TABLE"), ("v", "VIEW")]
