"""Commands that open a lake to other readers."""

from __future__ import annotations

from pathlib import Path

import forklake
from forklake import ColumnSpec
from tests.cli.conftest import CommandLine
from tests.interop.files import add_rows
from tests.interop.readers import VIEWS, by_pyiceberg


def test_a_table_of_a_fork_is_published_as_iceberg(tmp_path: Path) -> None:
    cli = CommandLine(f"ducklake:{tmp_path / 'meta.db'}")
    with forklake.open(cli.uri, create=True) as metastore:
        sales = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
        with sales.transaction() as transaction:
            transaction.create_table("t", [ColumnSpec("id", "bigint")])
        fork = metastore.fork("sales", "agent-1")
        add_rows(fork, "t", {"id": [1, 2]})
        newest = int(fork.current_snapshot())
    place = str(tmp_path / "iceberg")
    done = cli.document("iceberg", "publish", "agent-1.t", place)
    assert done["location"] == place
    assert done["snapshot"] == newest
    assert len(by_pyiceberg(done["metadata_location"])) == 2
    only = cli.document("iceberg", "publish", "agent-1.main.t", place, "--history", "0")
    assert only["snapshots"] == [newest]
    assert "Published agent-1.t" in cli.ok("iceberg", "publish", "agent-1.t").out
    assert cli.error("iceberg", "publish", "agent-1.u")[1]["code"] == "not_found"
    assert cli.error("iceberg", "publish", "t")[1]["code"] == "invalid_input"


def test_the_duckdb_command_queries_a_fork(tmp_path: Path) -> None:
    cli = CommandLine(f"ducklake:{tmp_path / 'meta.db'}")
    with forklake.open(cli.uri, create=True) as metastore:
        sales = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
        with sales.transaction() as transaction:
            transaction.create_table("t", [ColumnSpec("id", "bigint"), ColumnSpec("n", "varchar")])
        add_rows(sales, "t", {"id": [1], "n": ["x"]})
        before = int(sales.current_snapshot())
        fork = metastore.fork("sales", "agent-1")
        add_rows(fork, "t", {"id": [2], "n": ["y"]})
    assert "y" in cli.ok("duckdb", "agent-1", "FROM t").out
    assert "y" not in cli.ok("duckdb", "agent-1", "FROM t", "--version", str(before)).out
    for text, code in (
        ("FROM nothing", "not_found"),
        ("SELECT CAST(n AS INTEGER) FROM t", "invalid_input"),  # raised when rows are fetched
        ("DROP TABLE t", "forbidden"),
    ):
        assert cli.error("duckdb", "agent-1", text)[1]["code"] == code
    for file in (tmp_path / "data").rglob("*.parquet"):
        file.unlink()
    assert cli.error("duckdb", "agent-1", "FROM t")[1]["code"] == "not_found"


def test_a_metastore_is_exposed_to_stock_duckdb(postgres_dsn: str, tmp_path: Path) -> None:
    cli = CommandLine(f"ducklake:postgres:{postgres_dsn}")
    cli.ok("init")
    made = cli.document("expose")
    assert made["schema"] == VIEWS
    assert "ducklake_data_file" in made["views"]
    assert f"in {VIEWS}." in cli.ok("expose").out
    assert cli.error("expose", "--role", "nobody-such")[1]["code"] == "not_found"  # language: ok
    local = CommandLine(f"ducklake:{tmp_path / 'meta.db'}")
    local.ok("init")
    assert local.error("expose")[1]["code"] == "unsupported"
