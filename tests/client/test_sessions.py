"""Sessions of a service, used by the client and the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forklake.client import Client, connect
from forklake.engines.spark.engine import Engine
from forklake.errors import InvalidInput, NotFound
from tests.cli.conftest import CommandLine
from tests.crucible.served import RunningService


@pytest.fixture
def client(open_service: RunningService, engine: Engine) -> Iterator[Client]:
    """Yield a client of a service without access rules, on the shared Spark of the tests."""
    with connect(open_service.address) as found:
        found.create_catalog("sales")
        yield found


def test_statements_run_in_the_service_and_return_rows(client: Client) -> None:
    with client.session("sales") as session:
        session.sql("CREATE TABLE t (id INTEGER, name VARCHAR)")
        session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL)")
        rows = session.sql("SELECT * FROM t WHERE id > ? ORDER BY id", [1])
        assert rows.to_pydict() == {"id": [2, 3], "name": ["b", None]}
        sent = session.submit("SELECT count(*) AS n FROM t")
        assert sent.result().arrow().to_pydict() == {"n": [3]}
        session.sql("BEGIN")
        session.sql("DELETE FROM t")
        assert session.state()["in_transaction"]
    with client.session("sales") as session:  # uncommitted changes were rolled back
        assert session.sql("SELECT count(*) AS n FROM t").to_pydict() == {"n": [3]}
        with pytest.raises(NotFound, match="nothing"):
            session.sql("SELECT * FROM nothing")
        with pytest.raises(InvalidInput):
            session.sql("SELEC 1")
    with pytest.raises(NotFound):
        session.sql("SELECT 1")


def test_views_and_merges_run_in_the_service(client: Client, open_service: RunningService) -> None:
    catalog = client.catalog("sales")
    catalog.create_table("t", [("id", "int32")])
    before = catalog.snapshot_at()
    made = catalog.create_view("v", "SELECT id + 1 AS more FROM t")
    assert catalog.view("v") == made
    assert (catalog.views(version=before), catalog.views()) == ([], [made])
    catalog.create_view("v", "SELECT id FROM t", or_replace=True)
    catalog.drop_view("v")
    client.fork("sales", "agent")
    with client.session("agent") as session:
        session.sql("INSERT INTO t VALUES (1), (2)")
    (table,) = client.diff("sales", "agent", rows=True, limit=1).tables
    assert (table.added, len(table.rows)) == (2, 1)
    assert client.merge("agent", dry_run=True).snapshot_id is None
    cli = CommandLine("", open_service.address)
    assert cli.document("diff", "sales", "agent")["tables"][0]["added"] == 2
    assert "1 table into 'sales' as snapshot" in cli.ok("merge", "agent").out
    assert "are identical" in cli.ok("diff", "sales", "agent").out
    assert client.merge("sales", into="agent").tables == ()


def test_commands_work_with_a_server(client: Client, open_service: RunningService) -> None:
    cli = CommandLine("", open_service.address)
    cli.ok("sql", "-c", "sales", "CREATE TABLE t AS SELECT 1 AS id; INSERT INTO t VALUES (2)")
    cli.document("fork", "sales", "agent", "--ttl", "1h")
    cli.ok("sql", "-c", "agent", "DELETE FROM t WHERE id = 1")
    both = ("sql", "-c", "agent", "-c", "sales")
    query = "SELECT (SELECT count(*) FROM t) AS here, (SELECT count(*) FROM sales.main.t) AS there"
    assert cli.document(*both, query) == [{"here": 1, "there": 2}]
    assert {one["name"] for one in cli.document("catalogs")["catalogs"]} == {"sales", "agent"}
    (table,) = cli.document("tables", "sales")["tables"]
    assert (table["rows"], table["columns"][0]["type"]) == (2, "int32")
    assert cli.document("tables", "sales", "--version", "1")["tables"] == []
    assert len(cli.document("snapshots", "agent")["snapshots"]) == 5
    cli.document("options", "agent", "--set", "target_file_size=1MB")
    assert cli.document("storage", "sales")["catalogs"][0]["name"] == "sales"
    assert cli.document("rename", "agent", "agent-2")["catalog"]["name"] == "agent-2"
    assert cli.document("drop", "agent-2") == {"dropped": 1}
    code, error = cli.error("maintain")
    assert (code, error["code"]) == (8, "unsupported")
