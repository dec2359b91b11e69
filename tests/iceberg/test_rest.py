"""The Iceberg REST catalog of the service: clients list and read every fork, and change none."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import UnauthorizedError

import forklake
from forklake.crucible.settings import Settings
from tests.crucible.served import RunningService, run_service
from tests.interop.files import add_rows
from tests.interop.readers import bare_duckdb

PARENT, FORK = "alice-sales", "alice-fork 1"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Yield a service with a catalog of alice, and a fork of it with one more row."""
    place: Path = tmp_path_factory.mktemp("iceberg")
    settings = Settings(
        metastore=f"ducklake:{place / 'meta.db'}", create=True, data_path=str(place / "data")
    )
    with run_service(settings) as found:
        alice = found.client_of("alice")
        assert alice.post("/v1/catalogs", json={"name": PARENT}).status_code == 201
        columns = [{"name": "id", "type": "bigint"}, {"name": "n", "type": "varchar"}]
        body = {"name": "t", "columns": columns}
        alice.post(f"/v1/catalogs/{PARENT}/schemas/main/tables", json=body)
        with forklake.open(settings.metastore) as metastore:
            add_rows(metastore.catalog(PARENT), "t", {"id": [1, 2], "n": ["x", None]})
            alice.post(f"/v1/catalogs/{PARENT}/forks", json={"name": FORK})
            add_rows(metastore.catalog(FORK), "t", {"id": [3], "n": ["z"]})
        yield found


def client(there: RunningService, name: str, warehouse: str) -> RestCatalog:
    """Return the pyiceberg client of a user."""
    uri = f"{there.address}/iceberg"
    return RestCatalog("lake", uri=uri, warehouse=warehouse, token=there.keys[name])


def test_pyiceberg_lists_and_reads_every_fork(there: RunningService) -> None:
    for warehouse, expected in ((PARENT, [1, 2]), (FORK, [1, 2, 3])):
        found = client(there, "alice", warehouse)
        assert found.list_namespaces() == [("main",)]
        assert found.list_tables("main") == [("main", "t")]
        assert found.table_exists("main.t")
        assert not found.table_exists("main.u")
        table = found.load_table("main.t")
        assert table.scan().to_arrow()["id"].to_pylist() == expected
        assert table.scan("n = 'x'").to_arrow()["id"].to_pylist() == [1]
    past = [one.snapshot_id for one in table.snapshots()]
    assert table.scan(snapshot_id=past[1]).to_arrow()["id"].to_pylist() == [1, 2]


@pytest.mark.skipif(
    find_spec("duckdb_extension_httpfs") is None, reason="DuckDB needs it to call services"
)
def test_duckdb_lists_and_reads_every_fork(there: RunningService) -> None:
    with bare_duckdb("httpfs", "avro", "iceberg") as connection:
        connection.execute(f"CREATE SECRET s (TYPE iceberg, TOKEN '{there.keys['alice']}')")
        place = f"SECRET s, ENDPOINT '{there.address}/iceberg', DEFAULT_SCHEMA 'main'"
        connection.execute(f"ATTACH '{FORK}' AS lake (TYPE iceberg, {place})")
        assert connection.execute("SELECT sum(id) FROM lake.main.t").fetchall() == [(6,)]
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute("INSERT INTO lake.main.t VALUES (4, 'q')")


def test_nothing_can_be_changed(there: RunningService) -> None:
    table = client(there, "alice", PARENT).load_table("main.t")
    with pytest.raises(NotImplementedError, match="does not support"):
        client(there, "alice", PARENT).drop_table("main.t")
    for method, path in (
        ("POST", f"{PARENT}/namespaces"),
        ("POST", f"{PARENT}/namespaces/main/tables/t"),
        ("DELETE", f"{PARENT}/namespaces/main/tables/t"),
    ):
        answer = there.client_of("alice").request(method, f"/iceberg/v1/{path}", json={})
        assert answer.status_code == 403
        assert answer.json()["error"]["type"] == "ForbiddenException"
    assert table.scan().count() == 2


def test_an_unreadable_catalog_looks_like_a_missing_one(there: RunningService) -> None:
    bob = there.client_of("bob")
    for rest in ("", "/main", "/main/tables", "/main/tables/t", "/main/views"):
        answers = [
            bob.get(f"/iceberg/v1/{name}/namespaces{rest}") for name in (PARENT, "alice-wrong")
        ]
        (first, second) = ((one.status_code, one.json()["error"]["type"]) for one in answers)
        assert first == second
        assert first == (404, "NotFoundException")
    for rest in ("main", "main/tables/t"):
        assert bob.head(f"/iceberg/v1/{PARENT}/namespaces/{rest}").status_code == 404
    with pytest.raises(UnauthorizedError):
        RestCatalog("x", uri=f"{there.address}/iceberg", warehouse=PARENT, token="fl_wrong")
    assert there.client().get("/iceberg/v1/config").status_code == 401


def test_errors_have_the_shape_of_iceberg(there: RunningService) -> None:
    alice = there.client_of("alice")
    cases = {
        "/iceberg/v1/config": (400, "BadRequestException"),
        f"/iceberg/v1/{PARENT}/namespaces/none": (404, "NotFoundException"),
        f"/iceberg/v1/{PARENT}/namespaces/main/tables/none": (404, "NotFoundException"),
    }
    for path, (status, kind) in cases.items():
        error = alice.get(path).json()["error"]
        assert (error["code"], error["type"]) == (status, kind)
        assert error["message"]
    assert alice.head(f"/iceberg/v1/{PARENT}/namespaces/none").status_code == 404
    assert alice.head(f"/iceberg/v1/{PARENT}/namespaces/main").status_code == 204
