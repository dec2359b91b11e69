"""The client: operations of a metastore over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.client import Client, connect
from forklake.client.definitions import ColumnLike
from forklake.errors import (
    AlreadyExists,
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from tests.crucible.served import RunningService


@pytest.fixture
def client(open_service: RunningService) -> Iterator[Client]:
    """Yield a client of a service without access rules."""
    with connect(open_service.address) as found:
        yield found


@pytest.fixture
def alice(service: RunningService) -> Iterator[Client]:
    """Yield a client with the key of alice."""
    with connect(service.address, service.keys["alice"]) as found:
        yield found


def test_catalogs_match_those_of_the_metastore(
    client: Client, open_service: RunningService
) -> None:
    metastore: Metastore = open_service.service.home
    made = client.create_catalog("sales")
    forks = client.fork_many("sales", ["a b", "Ünï ☃", "x%2Fy"])
    assert made.row == metastore.catalog("sales").row
    assert forks == [metastore.catalog(row.catalog_name).row for row in forks]
    assert client.catalogs() == metastore.catalogs()
    assert list(client.all_catalogs(prefix="a")) == [metastore.catalog("a b").row]
    assert [row.catalog_name for row in client.children("sales")] == ["a b", "x%2Fy", "Ünï ☃"]
    assert client.find("a b") == forks[0]
    assert client.find("nobody") is None  # language: ok
    assert client.rename_catalog("x%2Fy", "z").name == "z"
    assert client.materialize("z") == metastore.catalog("z").current_snapshot()
    assert client.materialize("z") is None
    assert client.drop_catalogs(["z", "z2"], if_exists=True) == 1
    assert metastore.find("z") is None
    assert client.storage(["sales"]) == metastore.storage(["sales"])


def test_contents_of_a_catalog_are_listed(client: Client, open_service: RunningService) -> None:
    catalog = client.create_catalog("sales")
    catalog.create_schema("s")
    nested = {"struct": [{"name": "x", "type": "int32"}]}
    catalog.create_table("t", [("id", "int64"), ("place", {"list": nested})], schema="s")
    before = catalog.snapshot_at()
    catalog.create_table("u", [("id", "int64")])
    here = open_service.service.home.catalog("sales")
    assert catalog.snapshots() == here.snapshots()
    assert catalog.snapshots(limit=2) == here.snapshots(limit=2)
    assert {one["name"] for one in catalog.tables()} == {"t", "u"}
    assert [one["name"] for one in catalog.tables(version=before)] == ["t"]
    assert [one["name"] for one in catalog.tables(timestamp=datetime.now(UTC))] == ["u", "t"]
    assert catalog.table("t", "s")["columns"][1]["type"] == {"list": nested}
    assert catalog.files("t", "s") == []
    assert catalog.views() == []
    catalog.set_options({"target_file_size": "1MB"}, schema="s")
    assert catalog.options(schema="s") == here.options(schema="s")
    catalog.drop_table("u")
    catalog.drop_schema("s", cascade=True)
    assert catalog.tables() == []


def test_definitions_are_changed_by_methods_of_a_catalog(
    client: Client, open_service: RunningService
) -> None:
    catalog = client.create_catalog("sales")
    catalog.create_schema("a/b")
    assert catalog.rename_schema("a/b", "s")["name"] == "s"
    columns: list[ColumnLike] = [
        {"name": "id", "type": "int32", "nulls_allowed": False},
        ("day", "date"),
        ("gone", "varchar"),
    ]
    catalog.create_table(
        "t", columns, schema="s", partition_by=[("day", "month")], comment="orders"
    )
    before = catalog.snapshot_at()
    catalog.rename_table("t", "u", schema="s")
    catalog.set_comment("u", None, schema="s")
    catalog.set_partitioning("u", [("id", "identity")], schema="s")
    catalog.set_sorted_by("u", [("day", True, False)], schema="s")
    catalog.add_column("u", "n", "int32", schema="s", default="7", comment="how many")
    catalog.rename_column("u", "n", "count", schema="s")
    catalog.set_column_type("u", "count", "int64", schema="s")
    catalog.set_default("u", "count", "8", schema="s")
    catalog.set_column_comment("u", "count", None, schema="s")
    catalog.allow_nulls("u", "id", schema="s")
    catalog.drop_column("u", "gone", schema="s")
    found = catalog.table("u", "s")
    facts = [(one["name"], one["type"], one["default"]) for one in found["columns"]]
    assert facts == [("id", "int32", None), ("day", "date", None), ("count", "int64", "8")]
    assert [one["comment"] for one in [found, *found["columns"]]] == [None] * 4
    assert found["columns"][0]["nulls_allowed"]
    assert found["partition_by"] == [{"column": "id", "transform": "identity"}]
    assert found["sorted_by"][0]["is_descending"]
    then = catalog.table("t", "s", version=before)
    assert (then["comment"], len(then["columns"])) == ("orders", 3)
    assert then["partition_by"] == [{"column": "day", "transform": "month"}]
    here = open_service.service.home.catalog("sales")
    assert here.snapshots()[-1].commit_message == "column.drop s.u.gone"
    catalog.drop_table("u", schema="s")
    catalog.drop_table("u", schema="s", if_exists=True)
    catalog.drop_schema("nothing", if_exists=True)
    with pytest.raises(NotFound):
        catalog.drop_view("v")
    catalog.drop_view("v", if_exists=True)
    assert catalog.mirrors() == []
    run = catalog.maintain("expire", older_than=datetime.now(UTC), dry_run=True, wait_seconds=10)
    assert (run["state"], catalog.maintenance_runs()) == ("done", [run])


def test_a_fork_shows_its_parent_to_its_readers_only(
    alice: Client, service: RunningService
) -> None:
    catalog = alice.create_catalog("alice-1")
    fork = alice.fork("alice-1", "alice-2")
    assert (alice.parent("alice-1"), alice.parent("alice-2")) == (None, "alice-1")
    with connect(service.address, fork.token(["read"], 60)) as bearer:
        assert bearer.parent("alice-2") is None
        with pytest.raises(InvalidInput, match="parent"):
            bearer.merge("alice-2")
        with pytest.raises(NotFound):
            bearer.merge("alice-2", into=catalog.name)
    alice.drop_catalog("alice-1")
    assert alice.parent("alice-2") is None


def test_a_catalog_may_have_a_time_to_live(client: Client, open_service: RunningService) -> None:
    catalog = client.create_catalog("sales", ttl=timedelta(hours=1))
    metastore = open_service.service.home
    assert metastore.drop_expired(now=datetime.now(UTC) + timedelta(minutes=50)) == []
    catalog.extend(timedelta(hours=3))
    assert metastore.drop_expired(now=datetime.now(UTC) + timedelta(hours=2)) == []
    assert metastore.drop_expired(now=datetime.now(UTC) + timedelta(hours=4)) == ["sales"]


def test_errors_equal_those_of_a_metastore(client: Client) -> None:
    client.create_catalog("sales")
    with pytest.raises(AlreadyExists, match="sales"):
        client.create_catalog("sales")
    with pytest.raises(NotFound, match="nobody") as caught:  # language: ok
        client.fork("nobody", "x")  # language: ok
    assert caught.value.remedy
    with pytest.raises(InvalidInput):
        client.create_catalog("")
    for step in ("", ".", ".."):
        with pytest.raises(InvalidInput, match="part of a URL"):
            client.catalog("sales").drop_schema(step)
    with pytest.raises(InvalidInput, match="time zone"):
        client.catalog("sales").tables(timestamp=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(Unsupported):
        client.fork_many("sales", ["x"], data_path="/elsewhere")
    with pytest.raises(InvalidInput, match="URL"):
        connect("ftp://nowhere")
    with (
        connect("http://127.0.0.1:9") as lost,
        pytest.raises(Unavailable, match="does not respond"),
    ):
        lost.create_catalog("sales")


def test_data_paths_that_overlap_are_refused(client: Client) -> None:
    client.create_catalog("one", data_path="/lake")
    with pytest.raises(InvalidInput, match="overlaps with '/lake/' of the catalog 'one'"):
        client.create_catalog("two", data_path="file:///lake/one")
    assert client.find("two") is None


def test_an_existing_catalog_that_is_another_fork_is_refused(client: Client) -> None:
    client.create_catalogs(["sales", "stock"])
    client.fork("stock", "agent")
    with pytest.raises(AlreadyExists, match="a fork of 'stock', not of 'sales'"):
        client.fork_many("sales", ["agent", "new"], if_not_exists=True)
    assert client.find("new") is None


def test_rights_depend_on_the_credential(alice: Client, service: RunningService) -> None:
    assert alice.me()["principal"] == "alice"
    catalog = alice.create_catalog("alice-1")
    with pytest.raises(Forbidden):
        alice.create_catalog("bob-1")
    with connect(service.address) as nobody, pytest.raises(Unauthenticated):
        nobody.me()
    with connect(service.address, service.keys["bob"]) as bob:
        with pytest.raises(NotFound):
            bob.catalog("alice-1")
        catalog.grant("bob", "reader")
        assert bob.catalog("alice-1").catalog_id == catalog.catalog_id
        assert {one["principal"] for one in catalog.grants()} == {"alice", "bob"}
        catalog.revoke("bob")
        with pytest.raises(NotFound):
            bob.catalog("alice-1")
    with connect(service.address, catalog.token(["read"], 60)) as bearer:
        assert [row.catalog_name for row in bearer.catalogs()] == ["alice-1"]
        with pytest.raises(Forbidden):
            bearer.catalog("alice-1").create_schema("s")
