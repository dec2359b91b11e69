"""Creating, renaming, dropping and listing catalogs under access rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest

from forklake.access.authorization import Authorization
from forklake.access.callers import LOCAL
from forklake.access.roles import ROLES, Right, Role
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, QuotaExceeded
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.catalogs import CatalogRow
from tests.access.conftest import World
from tests.fix_metastore import BACKENDS


def names(rows: Iterable[CatalogRow]) -> list[str]:
    """Return the names of catalogs."""
    return [row.catalog_name for row in rows]


@pytest.mark.parametrize("backend", BACKENDS)
def test_owners_create_rename_and_drop_catalogs(world: World) -> None:
    access, alice = world.access, world.alice
    wanted = CreateRequest(["alice-1", "alice-2"], ttl=timedelta(hours=1))
    assert names(access.catalogs.create(alice, wanted).rows) == ["alice-1", "alice-2"]
    assert world.metastore.catalog("alice-1").expires_at() is not None
    assert access.authorization.rights(alice, ["alice-1"])["alice-1"] == ROLES[Role.OWNER]
    assert access.authorization.rights(world.bob, ["alice-1", "none"]) == {
        "alice-1": frozenset(),
        "none": frozenset(),
    }
    rows, made = access.catalogs.fork(alice, ForkRequest("alice-1", ["alice-f", "alice-g"]))
    assert (names(rows), made) == (["alice-f", "alice-g"], 2)
    assert access.catalogs.rename(alice, "alice-g", "alice-h").name == "alice-h"
    assert names(access.visible.catalogs(alice)) == ["alice-1", "alice-2", "alice-f", "alice-h"]
    assert access.visible.catalogs(world.bob) == []
    assert access.catalogs.drop(alice, ["alice-2", "alice-h"]) == 2
    assert access.catalogs.drop(alice, ["alice-2"], if_exists=True) == 0
    with world.metastore.database.reading() as connection:
        ((count,),) = connection.fetch("SELECT count(*) FROM crucible_grant")
    assert count == 2  # the grants of dropped catalogs are gone


def test_errors_for_names_outside_of_the_prefix_reveal_nothing(world: World) -> None:
    access = world.access
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    stated = set()
    for name in ("bob-1", "bob-2", "x"):
        with pytest.raises(Forbidden) as caught:
            access.catalogs.create(world.alice, CreateRequest(["alice-1", name]))
        stated.add(str(caught.value).replace(f"'{name}'", "…"))
        with pytest.raises(Forbidden):
            access.catalogs.create(world.alice, CreateRequest([name], if_not_exists=True))
    assert len(stated) == 1
    assert world.metastore.find("alice-1") is None
    with pytest.raises(AlreadyExists):
        access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    with pytest.raises(InvalidInput):
        access.catalogs.create(world.alice, CreateRequest(["alice-/"]))


def test_hidden_and_missing_catalogs_get_the_same_errors(world: World) -> None:
    access = world.access
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    unknown = "nobody"  # language: ok
    acts: dict[str, Callable[[str], object]] = {
        "get": lambda name: access.authorization.catalog(world.alice, name, "catalog.get"),
        "write": lambda name: access.authorization.catalog(world.alice, name, "schema.create"),
        "fork": lambda name: access.catalogs.fork(world.alice, ForkRequest(name, ["alice-1"])),
        "rename": lambda name: access.catalogs.rename(world.alice, name, "alice-1"),
        "drop": lambda name: access.catalogs.drop(world.alice, [name]),
        "grants": lambda name: access.grants.list(world.alice, name),
        "grant": lambda name: access.grants.add(world.alice, name, "alice", "owner"),
        "grant to unknown": lambda name: access.grants.add(world.alice, name, unknown, "owner"),
        "revoke": lambda name: access.grants.revoke(world.alice, name, "bob"),
        "mint": lambda name: access.tokens.create(world.alice, name, [Right.READ], 60),
        "audit": lambda name: access.audit.list(world.alice, catalog=name),
        "limit": lambda name: access.quotas.find_catalog_limit(world.alice, name),
    }
    for what, act in acts.items():
        reported = []
        for name in ("bob-1", "bob-2", "\0", "a/b", ""):
            before = len(world.entries())
            with pytest.raises(NotFound) as caught:
                act(name)
            assert len(world.entries()) == before + 1, what  # whether it exists or not
            error = caught.value
            reported.append(
                (error.message.replace(f"'{name}'", "…"), error.remedy, list(error.details))
            )
        assert all(one == reported[0] for one in reported), what
    assert access.catalogs.drop(world.alice, ["bob-1", "bob-2"], if_exists=True) == 0
    assert world.metastore.find("bob-1") is not None


def test_many_catalogs_are_dropped_together_or_not_at_all(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2"]))
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    access.grants.add(world.bob, "bob-1", "alice", "reader")
    with pytest.raises(Forbidden):
        access.catalogs.drop(world.alice, ["alice-1", "bob-1"])
    with pytest.raises(NotFound):
        access.catalogs.drop(world.alice, ["alice-1", "none"])
    assert world.metastore.count() == 3
    assert access.catalogs.drop(world.alice, ["alice-1", "none", "alice-2"], if_exists=True) == 2


def test_renaming_needs_a_prefix_for_the_new_name(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    for name in ("bob-1", "bob-2"):
        with pytest.raises(Forbidden):
            access.catalogs.rename(world.alice, "alice-1", name)
    access.grants.add(world.bob, "bob-1", "alice", "writer")
    with pytest.raises(Forbidden):
        access.catalogs.rename(world.alice, "bob-1", "alice-2")


def test_a_catalog_that_took_the_name_concurrently_is_not_changed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    usual = Authorization.check

    def slow(self: Authorization, *arguments: Any) -> CatalogRow:
        row = usual(self, *arguments)
        world.metastore.rename_catalog("alice-1", "alice-0")
        world.metastore.rename_catalog("bob-1", "alice-1")
        return row

    for act in (
        lambda: access.catalogs.fork(world.alice, ForkRequest("alice-1", ["alice-fork"])),
        lambda: access.catalogs.drop(world.alice, ["alice-1"]),
        lambda: access.catalogs.rename(world.alice, "alice-1", "alice-2"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Authorization, "check", slow)
            with pytest.raises(NotFound):
                act()
        world.metastore.rename_catalog("alice-1", "bob-1")
        world.metastore.rename_catalog("alice-0", "alice-1")
    assert world.metastore.count() == 2


# Listing


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_principals_list_their_catalogs_page_by_page(world: World) -> None:
    access = world.access
    access.catalogs.create(world.root, CreateRequest([f"other-{number}" for number in range(20)]))
    access.catalogs.create(
        world.alice, CreateRequest([f"alice-{number:02d}" for number in range(30)])
    )
    access.grants.add(world.root, "other-3", "alice", "reader")
    access.grants.add(world.root, "other-7", "alice", "writer")
    expected = [f"alice-{number:02d}" for number in range(30)] + ["other-3", "other-7"]
    found: list[str] = []
    while page := access.visible.catalogs(world.alice, after=found[-1] if found else "", limit=7):
        found += names(page)
    assert found == expected
    assert names(access.visible.catalogs(world.alice, prefix="other-")) == ["other-3", "other-7"]
    assert names(access.visible.catalogs(world.alice, prefix="alice-2", limit=3)) == expected[20:23]
    assert names(access.visible.catalogs(world.alice, prefix="alice-2", after="alice-28")) == [
        "alice-29"
    ]
    assert access.visible.catalogs(world.alice, prefix="bob") == []
    assert len(access.visible.catalogs(world.root)) == 50
    for limit in (0, 10**6):
        with pytest.raises(InvalidInput):
            access.visible.catalogs(world.alice, limit=limit)


def test_nested_prefixes_list_no_catalog_twice(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-11", "alice-2"]))
    access.prefixes.add(LOCAL, "alice-1", "alice", "reader")
    access.prefixes.add(LOCAL, "", "carol", "reader")
    assert names(access.visible.catalogs(world.alice)) == ["alice-1", "alice-11", "alice-2"]
    assert names(access.visible.catalogs(world.carol, prefix="alice-1")) == ["alice-1", "alice-11"]


def test_principals_with_very_many_catalogs_get_the_same_list(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = world.access
    access.catalogs.create(world.root, CreateRequest(["a", "m", "z"]))
    access.catalogs.create(world.alice, CreateRequest([f"alice-{number}" for number in range(9)]))
    access.grants.add(world.root, "m", "alice", "reader")
    expected = access.visible.catalogs(world.alice)
    assert len(expected) == 10
    monkeypatch.setattr("forklake.access.visible_catalogs._FEW", 5)
    monkeypatch.setattr("forklake.access.visible_catalogs._PAGE", 2)
    assert access.visible.catalogs(world.alice) == expected
    assert names(access.visible.catalogs(world.alice, after="alice-7", limit=2)) == ["alice-8", "m"]


# Limits


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_concurrent_creations_respect_the_quota_exactly(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-0"]))
    access.quotas.set(world.root, "alice", catalogs=5)
    outcomes: list[str] = []

    def make(number: int) -> None:
        try:
            if number % 2:
                access.catalogs.create(world.alice, CreateRequest([f"alice-{number}"]))
            else:
                access.catalogs.fork(world.alice, ForkRequest("alice-0", [f"alice-{number}"]))
            outcomes.append("made")
        except QuotaExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=make, args=(number,)) for number in range(1, 17)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made"] * 4 + ["refused"] * 12
    assert len(access.visible.catalogs(world.alice)) == 5
    access.catalogs.drop(world.alice, [access.visible.catalogs(world.alice)[-1].catalog_name])
    access.catalogs.create(world.alice, CreateRequest(["alice-more"]))
    with pytest.raises(QuotaExceeded, match="at most 5"):
        access.catalogs.create(world.alice, CreateRequest(["alice-too-many"]))


def test_quotas_cannot_be_bypassed(world: World) -> None:
    access = world.access
    access.quotas.set(world.root, "alice", catalogs=2)
    access.quotas.set(world.root, "bob", catalogs=1)
    with pytest.raises(QuotaExceeded):
        access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2", "alice-3"]))
    assert world.metastore.count() == 0
    access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2"]))
    access.catalogs.create(
        world.alice, CreateRequest(["alice-1"], if_not_exists=True)
    )  # creates nothing
    access.grants.add(world.alice, "alice-1", "bob", "owner")
    with pytest.raises(QuotaExceeded):  # bob owns one now
        access.grants.add(world.alice, "alice-2", "bob", "owner")
    access.grants.add(world.alice, "alice-1", "bob", "owner")  # and continues to own it
    with pytest.raises(InvalidInput, match="no owner"):
        access.grants.revoke(world.alice, "alice-2", "alice")
    access.grants.revoke(world.alice, "alice-1", "alice")
    assert access.catalogs.fork(world.alice, ForkRequest("alice-2", ["alice-4"]))[1] == 1
    world.metastore.drop_catalog("alice-4")  # dropped without the rules: it does not count either
    assert access.catalogs.create(world.alice, CreateRequest(["alice-5"]))
    assert access.grants.tidy() == 1


def test_sessions_are_limited(world: World) -> None:
    access = world.access
    access.quotas.check_sessions(world.alice, 1000)
    access.quotas.set(world.root, "alice", sessions=2)
    access.quotas.check_sessions(world.alice, 1)
    with pytest.raises(QuotaExceeded, match="2 open sessions of at most 2"):
        access.quotas.check_sessions(world.alice, 2)
    access.quotas.check_sessions(LOCAL, 1000)
    assert access.quotas.find(world.alice, "alice")._asdict() == {
        "catalogs": None,
        "bytes": None,
        "sessions": 2,
    }
    with pytest.raises(Forbidden):
        access.quotas.find(world.alice, "bob")
    with pytest.raises(InvalidInput):
        access.quotas.set(world.root, "alice", catalogs=-1)
    with pytest.raises(NotFound):
        access.quotas.set(world.root, "nobody", catalogs=1)  # language: ok


@pytest.mark.parametrize("backend", BACKENDS)
def test_readable_forks_are_found_among_many_others(world: World) -> None:
    access, root = world.access, world.root
    parent = access.catalogs.create(root, CreateRequest(["parent"])).rows[0]
    access.grants.add(root, "parent", "alice", "forker")
    access.catalogs.fork(
        root, ForkRequest("parent", [f"other-{number:04}" for number in range(1200)])
    )
    access.catalogs.fork(world.alice, ForkRequest("parent", ["alice-b", "alice-a"]))
    access.catalogs.create(world.alice, CreateRequest(["alice-no-fork"]))
    access.grants.add(root, "other-0700", "alice", "reader")
    access.grants.add(root, "other-0900", "bob", "reader")  # bob may not read the parent
    assert names(access.visible.forks(world.alice, parent)) == ["alice-a", "alice-b", "other-0700"]
    assert names(access.visible.forks(world.alice, parent, after="alice-a")) == [
        "alice-b",
        "other-0700",
    ]
    assert names(access.visible.forks(world.bob, parent)) == []
    assert len(names(access.visible.forks(root, parent))) == 1202
    access.prefixes.add(root, "", "carol", "reader")
    assert names(access.visible.forks(world.carol, parent)) == names(
        access.visible.forks(root, parent)
    )
    token = access.authentication.identify(
        access.tokens.create(world.alice, "alice-a", [Right.READ], 60)
    )
    assert names(access.visible.forks(token, parent)) == ["alice-a"]
