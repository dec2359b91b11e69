"""Limits on the bytes of a catalog, checked in every kind of commit."""

from __future__ import annotations

import threading

import pytest

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.access.callers import LOCAL
from forklake.errors import Forbidden, NotFound, QuotaExceeded
from forklake.model.ids import ColumnId
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store import commit as commits
from forklake.store.quotas import write_catalog_limit
from tests.access.conftest import World
from tests.fix_metastore import BACKENDS

SERVER = pytest.mark.parametrize("backend", ["postgresql"])


def table_in(metastore: Metastore, name: str) -> Catalog:
    """Create a catalog with a table."""
    catalog = metastore.create_catalog(name, data_path="/lake")
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "int64")])
    return catalog


def append(catalog: Catalog, path: str, size: int) -> None:
    """Add a file in one commit."""
    bounds = (ColumnBounds(ColumnId(1), 8, 1, 0, "1", "1"),)
    with catalog.transaction() as transaction:
        file = NewDataFile(path, 1, size, bounds=bounds)
        transaction.add_data_files(catalog.refresh().table("t"), [file])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_commit_beyond_the_limit_changes_nothing(metastore: Metastore) -> None:
    catalog = table_in(metastore, "sales")
    write_catalog_limit(metastore.database, catalog.catalog_id, 100)
    append(catalog, "a", 60)
    before = catalog.head()
    with pytest.raises(QuotaExceeded, match="at most 100") as caught:
        append(catalog, "b", 41)
    assert caught.value.details == {"limit": 100, "used": 60}
    assert catalog.head() == before
    append(catalog, "c", 40)
    with pytest.raises(QuotaExceeded):
        append(catalog, "d", 1)
    with catalog.transaction() as transaction:  # changes that add no bytes are allowed
        transaction.create_schema("more")
        transaction.drop_table("t")
    write_catalog_limit(metastore.database, catalog.catalog_id, None)
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "int64")])
    append(catalog, "e", 1000)


@SERVER
def test_appends_in_one_round_trip_are_limited(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, other = table_in(metastore, "sales"), table_in(metastore, "other")
    for one in (catalog, other):
        append(one, "a", 60)
    write_catalog_limit(metastore.database, catalog.catalog_id, 100)
    with pytest.raises(QuotaExceeded):
        append(catalog, "b", 41)
    append(catalog, "c", 40)

    def refuse(*_: object) -> None:
        raise AssertionError("this commit did not go in one round trip")

    monkeypatch.setattr(commits, "_attempt", refuse)
    append(other, "b", 10**12)


@SERVER
def test_concurrent_commits_do_not_exceed_the_limit(metastore: Metastore) -> None:
    catalog = table_in(metastore, "sales")
    append(catalog, "a", 10)
    write_catalog_limit(metastore.database, catalog.catalog_id, 50)
    outcomes: list[str] = []

    def write(number: int) -> None:
        try:
            append(metastore.catalog("sales"), f"f{number}", 10)
            outcomes.append("done")
        except QuotaExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done"] * 4 + ["refused"] * 8


def test_only_files_written_by_a_fork_count_towards_its_limit(metastore: Metastore) -> None:
    append(table_in(metastore, "sales"), "a", 1000)
    fork = metastore.fork("sales", "fork")
    write_catalog_limit(metastore.database, fork.catalog_id, 100)
    append(fork, "b", 100)
    with pytest.raises(QuotaExceeded):
        append(fork, "c", 1)
    append(metastore.catalog("sales"), "d", 1000)


def test_expiring_snapshots_frees_quota(metastore: Metastore) -> None:
    catalog = table_in(metastore, "sales")
    write_catalog_limit(metastore.database, catalog.catalog_id, 100)
    append(catalog, "a", 100)
    with catalog.transaction() as transaction:
        transaction.truncate(catalog.refresh().table("t"))
    with pytest.raises(QuotaExceeded):  # earlier snapshots still need the file
        append(catalog, "b", 100)
    catalog.expire_snapshots(versions=[one.snapshot_id for one in catalog.snapshots()][:-1])
    append(catalog, "b", 100)


def test_the_limit_of_a_principal_applies_to_each_of_its_catalogs(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    assert access.quotas.find_catalog_limit(world.alice, "alice-1") is None
    access.quotas.set(world.root, "alice", bytes=100)
    access.catalogs.create(world.alice, CreateRequest(["alice-2"]))
    access.catalogs.fork(world.alice, ForkRequest("alice-2", ["alice-3"]))
    for number in (1, 2, 3):
        assert access.quotas.find_catalog_limit(world.alice, f"alice-{number}") == 100
    access.quotas.set_catalog_limit(world.root, "alice-3", 7)
    assert access.quotas.find_catalog_limit(world.alice, "alice-3") == 7
    with pytest.raises(Forbidden):
        access.quotas.set_catalog_limit(world.alice, "alice-3", None)
    with pytest.raises(NotFound):
        access.quotas.find_catalog_limit(world.bob, "alice-3")
    access.quotas.set(world.root, "alice")
    assert access.quotas.find_catalog_limit(world.alice, "alice-3") is None
    access.quotas.set(world.root, "alice", bytes=5)
    access.catalogs.drop(LOCAL, ["alice-1", "alice-2", "alice-3"])
    with world.metastore.database.reading() as connection:
        assert connection.fetch("SELECT * FROM ducklake_metadata WHERE scope = 'quota'") == []
