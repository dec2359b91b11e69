"""One suite over everything that holds catalogs: a metastore, a client, and the places of runs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import forklake
from forklake import Metastore
from forklake.catalog.catalog import Catalog
from forklake.catalog.service import CatalogHandle, CatalogService
from forklake.client import Client, connect
from forklake.client.catalogs import RemoteCatalog
from forklake.crucible.settings import Settings
from forklake.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from forklake.model.merge_outcomes import TableMerge
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.reagent.local import LocalPlace
from forklake.reagent.served import ServedPlace
from forklake.store.catalogs import CatalogRow
from tests.concurrency.writers import TABLE, append, make_catalog, table_of
from tests.crucible.served import run_service

KINDS = ("metastore", "client", "local place", "served place")


@dataclass(frozen=True)
class World:
    """A catalog service, and the metastore that holds its catalogs."""

    service: CatalogService
    metastore: Metastore


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Yield each catalog service in turn, over a fresh metastore."""
    uri = f"ducklake:{tmp_path / 'metastore.db'}"
    with ExitStack() as stack:
        if request.param == "metastore":
            metastore = stack.enter_context(forklake.open(uri, create=True))
            yield World(metastore, metastore)
        elif request.param == "local place":
            forklake.open(uri, create=True).close()
            place = stack.enter_context(LocalPlace(uri))
            yield World(place.catalogs, place.catalogs)
        else:
            settings = Settings(metastore=uri, create=True, data_path=str(tmp_path / "data"))
            service = stack.enter_context(run_service(settings, with_rules=False))
            client = stack.enter_context(connect(service.address))
            if request.param == "client":
                yield World(client, service.service.home)
            else:
                served = stack.enter_context(closing(ServedPlace(client)))
                yield World(served.catalogs, service.service.home)


@pytest.fixture
def service(world: World) -> CatalogService:
    """Return each catalog service in turn."""
    return world.service


def names(rows: list[CatalogRow]) -> list[str]:
    """Return the names of catalogs."""
    return [row.catalog_name for row in rows]


@pytest.mark.parametrize(
    ("protocol", "implementation"),
    [
        (CatalogService, Metastore),
        (CatalogService, Client),
        (CatalogHandle, Catalog),
        (CatalogHandle, RemoteCatalog),
    ],
)
def test_methods_have_equal_signatures(protocol: type, implementation: type) -> None:
    for name, method in vars(protocol).items():
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        wanted = inspect.signature(method).parameters
        given = inspect.signature(getattr(implementation, name)).parameters
        shared = {key: one for key, one in given.items() if key in wanted}
        assert list(shared.items()) == list(wanted.items()), name
        more = [one for key, one in given.items() if key not in wanted]
        assert all(one.default is not inspect.Parameter.empty for one in more), name


# Finding and creating


def test_created_catalogs_are_found_and_listed(service: CatalogService) -> None:
    made = service.create_catalog("b")
    rows = service.create_catalogs(["c", "a"])
    assert service.find("b") == made.row == service.catalog("b").row
    assert service.find("none") is None
    assert names(service.catalogs()) == ["a", "b", "c"]
    assert service.catalogs(prefix="c") == [row for row in rows if row.catalog_name == "c"]
    assert names(service.catalogs(limit=2)) == ["a", "b"]
    assert names(service.catalogs(after="b", limit=2)) == ["c"]
    assert [row.catalog_name for row in service.all_catalogs()] == ["a", "b", "c"]
    assert service.count() in (3, None)
    ids = {row.catalog_id: row.catalog_name for row in service.catalogs()}
    assert service.names(list(ids)) in (ids, {})
    with pytest.raises(NotFound):
        service.catalog("none")


def test_a_request_returns_existing_catalogs_first_and_counts_the_others(
    service: CatalogService,
) -> None:
    assert service.create(CreateRequest(["a"])).created == 1
    rows, created = service.create(CreateRequest(["b", "a"], if_not_exists=True))
    assert (names(rows), created) == (["a", "b"], 1)
    with pytest.raises(AlreadyExists, match="'a'"):
        service.create(CreateRequest(["c", "a"]))
    assert service.find("c") is None
    for bad in ("", "a/b", "."):
        with pytest.raises(InvalidInput):
            service.create_catalog(bad)
    with pytest.raises(InvalidInput, match="twice"):
        service.create_catalogs(["d", "d"])
    with pytest.raises(InvalidInput):
        service.create_catalog("d", ttl=timedelta(0))


def test_catalogs_expire(world: World) -> None:
    service, hour = world.service, timedelta(hours=1)
    service.create_catalog("brief", ttl=hour)
    service.create_catalog("kept")
    service.fork("kept", "fork", ttl=2 * hour)
    until = service.catalog("brief").extend(3 * hour)
    assert until is not None
    assert abs(until - datetime.now(UTC) - 3 * hour) < timedelta(minutes=1)
    now = datetime.now(UTC)
    assert world.metastore.drop_expired(now=now + 2.5 * hour) == ["fork"]
    assert service.catalog("brief").extend(None) is None
    assert world.metastore.drop_expired(now=now + 24 * hour) == []


# Forking


def test_forks_have_their_parent_and_snapshot(world: World) -> None:
    service = world.service
    parent = make_catalog(world.metastore, "parent")
    before = parent.current_snapshot()
    append(parent, table_of(parent), "a.parquet")
    fork = service.fork("parent", "fork")
    past = service.fork("parent", "past", at=before, mode="copy")
    assert fork.row.parent_catalog_id == past.row.parent_catalog_id == parent.catalog_id
    assert (fork.row.fork_snapshot, past.row.fork_snapshot) == (parent.current_snapshot(), before)
    assert names(service.fork_many("parent", ["x", "y", "z"])) == ["x", "y", "z"]
    assert names(service.children("parent")) == ["fork", "x", "y", "z"]  # a copy inherits nothing
    assert names(service.children("parent", after="fork", limit=2)) == ["x", "y"]
    rows, created = service.create_forks(ForkRequest("parent", ["new", "x"], if_not_exists=True))
    assert (names(rows), created) == (["x", "new"], 1)


def test_forks_that_are_not_possible_are_refused(service: CatalogService) -> None:
    service.create_catalogs(["parent", "other"])
    service.fork("other", "taken")
    with pytest.raises(NotFound, match="'none'"):
        service.fork("none", "fork")
    with pytest.raises(AlreadyExists, match="'taken'"):
        service.fork("parent", "taken")
    with pytest.raises(AlreadyExists, match="a fork of 'other', not of 'parent'"):
        service.fork_many("parent", ["new", "taken"], if_not_exists=True)
    with pytest.raises(NotFound, match="987654321"):
        service.fork("parent", "fork", at=987654321)
    with pytest.raises(InvalidInput, match="fork mode 'deep'"):
        service.fork("parent", "fork", mode="deep")
    assert service.find("new") is None


def test_a_fork_is_materialized_once(service: CatalogService) -> None:
    service.create_catalog("parent")
    fork = service.fork("parent", "fork")
    assert service.materialize("fork") == fork.current_snapshot()
    assert service.materialize("fork") is None
    with pytest.raises(NotFound):
        service.materialize("none")


# Handles


def test_a_handle_reads_the_history_and_options(world: World) -> None:
    made = make_catalog(world.metastore, "sales")
    append(made, table_of(made), "a.parquet")
    catalog = world.service.catalog("sales")
    assert (catalog.name, catalog.catalog_id) == ("sales", made.catalog_id)
    assert catalog.current_snapshot() == made.current_snapshot()
    assert catalog.snapshots() == made.snapshots()
    assert catalog.snapshots(limit=1) == made.snapshots()[-1:]
    with pytest.raises(InvalidInput):
        catalog.snapshots(limit=0)
    catalog.set_option("target_file_size", "1MB", table=TABLE)
    catalog.set_options({"data_inlining_row_limit": 7})
    assert catalog.options(table=TABLE) == made.options(table=TABLE)
    assert dict(one[:2] for one in catalog.options())["data_inlining_row_limit"] == "7"
    catalog.set_option("data_inlining_row_limit", None)
    assert ("data_inlining_row_limit", "7", "catalog") not in catalog.options()
    with pytest.raises(InvalidInput):
        catalog.set_option("no_such_option", 1)


# Comparing and merging


def test_a_fork_is_compared_and_merged(world: World) -> None:
    service, parent = world.service, make_catalog(world.metastore, "sales")
    service.fork("sales", "agent")
    assert service.diff("sales", "agent").is_empty
    fork = world.metastore.catalog("agent")
    append(fork, table_of(fork), "a.parquet", rows=7)
    found = service.diff("sales", "agent")
    assert found.is_by_row_id
    assert [(one.table, one.did, one.added) for one in found.tables] == [
        ("main.events", "changed", 7)
    ]
    assert service.diff("sales", "agent", tables=["events"]).tables == found.tables
    planned = service.merge("agent", dry_run=True)
    assert (planned.is_dry_run, planned.snapshot_id) == (True, None)
    merged = service.merge("agent", message="done", idempotency_key="once")
    assert merged.tables == planned.tables == (TableMerge("main.events", 7, 1),)
    assert (merged.source, merged.target) == ("agent", "sales")
    assert merged.snapshot_id == parent.current_snapshot()
    assert parent.snapshots()[-1].commit_message == "done"
    assert service.merge("agent").snapshot_id is None
    assert service.merge("sales", into="agent").tables == ()
    assert service.diff("sales", "agent").is_empty


def test_some_tables_are_merged_and_the_others_reported(world: World) -> None:
    make_catalog(world.metastore, "sales")
    world.service.fork("sales", "agent")
    fork = world.metastore.catalog("agent")
    append(fork, table_of(fork), "a.parquet")
    with fork.transaction() as transaction:
        transaction.create_table("other", [forklake.ColumnSpec("id", "bigint")])
    merged = world.service.merge("agent", tables=["events"])
    assert (merged.is_partial, merged.left_out) == (True, ("main.other",))


def test_merges_that_are_not_possible_are_refused(world: World) -> None:
    service, parent = world.service, make_catalog(world.metastore, "sales")
    service.fork("sales", "agent")
    fork = world.metastore.catalog("agent")
    for catalog, name in ((parent, "one"), (fork, "two")):
        with catalog.transaction() as transaction:
            transaction.rename_table(TABLE, name)
    assert [one.what for one in service.merge("agent", dry_run=True).conflicts]
    with pytest.raises(Conflict, match="cannot be merged into the target 'sales'") as caught:
        service.merge("agent", on_conflict={"events": "theirs"})
    assert caught.value.details["conflicts"]
    with pytest.raises(InvalidInput, match="is not a fork"):
        service.merge("sales")
    with pytest.raises(InvalidInput, match="on_conflict"):
        service.merge("agent", on_conflict="mine")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        service.merge("none")
    with pytest.raises(NotFound):
        service.diff("sales", "none")
    with pytest.raises(InvalidInput):
        service.diff("sales", "agent", rows=True, limit=0)


# Renaming and dropping


def test_catalogs_are_renamed_and_dropped(service: CatalogService) -> None:
    row = service.create_catalog("old").row
    service.create_catalog("other")
    renamed = service.rename_catalog("old", "new")
    assert (renamed.name, renamed.row.path) == ("new", row.path)
    with pytest.raises(AlreadyExists):
        service.rename_catalog("new", "other")
    with pytest.raises(NotFound):
        service.rename_catalog("old", "else")
    service.drop_catalog("new")
    with pytest.raises(NotFound):
        service.drop_catalog("new")
    service.drop_catalog("new", if_exists=True)
    with pytest.raises(NotFound):
        service.drop_catalogs(["other", "new"])
    assert service.drop_catalogs(["other", "new"], if_exists=True) == 1
    assert service.catalogs() == []


def test_storage_is_reported_by_catalog(world: World) -> None:
    catalog = make_catalog(world.metastore, "sales")
    append(catalog, table_of(catalog), "a.parquet", rows=3)
    world.service.fork("sales", "agent")
    own, shared = world.service.storage(["sales", "agent"])
    assert (own.catalog_name, shared.catalog_name) == ("sales", "agent")
    assert world.metastore.storage(["sales", "agent"]) == [own, shared]
    with pytest.raises(NotFound):
        world.service.storage(["none"])
