"""Rights on forks: a grant on a fork counts only while all its ancestors are readable."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.access.callers import Caller
from forklake.access.roles import NOTHING, ROLES, Right, Role
from forklake.access.rules import effective_rights
from forklake.errors import AlreadyExists, Forbidden, NotFound
from forklake.model.ids import CatalogId
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.access_grants import Link, PrefixGrant
from tests.access.conftest import World

READ = frozenset({Right.READ})
BOTH = pytest.mark.parametrize("backend", ["sqlite", "postgresql"])


def rights(world: World, caller: Caller, name: str) -> frozenset[Right]:
    """Return the rights of a caller on a catalog."""
    return world.access.authorization.rights(caller, [name])[name]


@pytest.fixture
def family(world: World) -> World:
    """Return rules in which bob forked alice's catalog, and his fork again."""
    world.access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    world.access.grants.add(world.alice, "alice-1", "bob", "forker")
    world.access.catalogs.fork(world.bob, ForkRequest("alice-1", ["bob-1"]))
    world.access.catalogs.fork(world.bob, ForkRequest("bob-1", ["bob-2"]))
    return world


@BOTH
def test_the_forker_owns_the_fork_and_readers_of_the_parent_have_no_rights(
    family: World,
) -> None:
    family.access.grants.add(family.alice, "alice-1", "carol", "admin")
    for name in ("bob-1", "bob-2"):
        assert rights(family, family.bob, name) == ROLES[Role.OWNER]
        assert rights(family, family.carol, name) == NOTHING
        assert rights(family, family.alice, name) == NOTHING


@BOTH
def test_a_grant_on_a_fork_needs_read_rights_on_all_ancestors(family: World) -> None:
    access = family.access
    access.grants.add(family.bob, "bob-2", "carol", "admin")
    assert rights(family, family.carol, "bob-2") == NOTHING
    access.grants.add(family.bob, "bob-1", "carol", "reader")
    assert rights(family, family.carol, "bob-2") == NOTHING
    access.grants.add(family.alice, "alice-1", "carol", "reader")
    assert rights(family, family.carol, "bob-2") == ROLES[Role.ADMIN]
    access.grants.revoke(family.bob, "bob-1", "carol")  # in the middle of the lineage
    assert rights(family, family.carol, "bob-2") == NOTHING
    with pytest.raises(NotFound):
        access.authorization.catalog(family.carol, "bob-2", "catalog.get")
    assert [row.catalog_name for row in access.visible.catalogs(family.carol)] == ["alice-1"]


def test_revoking_read_on_the_parent_revokes_it_on_all_forks(family: World) -> None:
    family.access.grants.revoke(family.alice, "alice-1", "bob")
    for name in ("bob-1", "bob-2"):
        assert rights(family, family.bob, name) == NOTHING
        with pytest.raises(NotFound):
            family.access.catalogs.drop(family.bob, [name])
    assert family.access.visible.catalogs(family.bob) == []
    family.access.grants.add(family.alice, "alice-1", "bob", "reader")
    assert rights(family, family.bob, "bob-2") == ROLES[Role.OWNER]
    with pytest.raises(Forbidden):
        family.access.catalogs.fork(family.bob, ForkRequest("alice-1", ["bob-3"]))


def test_an_expired_grant_on_the_parent_ends_rights_on_forks(family: World) -> None:
    soon = family.clock() + timedelta(seconds=10)
    family.access.grants.add(family.alice, "alice-1", "bob", "reader", expires_at=soon)
    assert rights(family, family.bob, "bob-2") == ROLES[Role.OWNER]
    family.clock.advance(10)
    assert rights(family, family.bob, "bob-2") == NOTHING


def test_prefix_grants_do_not_bypass_the_rules_of_ancestors(family: World) -> None:
    family.access.prefixes.add(family.root, "bob-", "carol", "owner")
    assert rights(family, family.carol, "bob-2") == NOTHING
    family.access.prefixes.add(family.root, "alice-", "carol", "reader")
    assert rights(family, family.carol, "bob-2") == ROLES[Role.OWNER]
    family.access.catalogs.rename(family.alice, "alice-1", "alice-other")
    assert rights(family, family.carol, "bob-2") == ROLES[Role.OWNER]
    family.access.catalogs.rename(family.root, "alice-other", "hidden")
    assert rights(family, family.carol, "bob-2") == NOTHING


def test_tokens_do_not_bypass_the_rules_of_ancestors(family: World) -> None:
    token = family.access.tokens.create(family.bob, "bob-2", [Right.READ], 600)
    caller = family.access.authentication.identify(token)
    assert rights(family, caller, "bob-2") == READ
    family.access.grants.revoke(family.alice, "alice-1", "bob")
    assert rights(family, caller, "bob-2") == NOTHING


@BOTH
def test_copies_do_not_bypass_the_rules_of_ancestors(family: World) -> None:
    access = family.access
    access.catalogs.fork(family.bob, ForkRequest("alice-1", ["bob-copy"], mode="copy"))
    family.metastore.materialize("bob-2")
    for name in ("bob-copy", "bob-2"):
        access.grants.add(family.bob, name, "carol", "reader")
        assert rights(family, family.carol, name) == NOTHING
    access.grants.add(family.alice, "alice-1", "carol", "reader")
    assert rights(family, family.carol, "bob-copy") == READ


def test_dropped_ancestors_are_not_checked(family: World) -> None:
    family.access.grants.add(family.bob, "bob-2", "carol", "reader")
    family.access.catalogs.drop(family.alice, ["alice-1"])
    assert rights(family, family.bob, "bob-2") == ROLES[Role.OWNER]
    assert rights(family, family.carol, "bob-2") == NOTHING  # bob-1 is between
    family.access.catalogs.drop(family.bob, ["bob-1"])
    assert rights(family, family.carol, "bob-2") == READ


def test_forking_needs_the_fork_right_and_a_prefix_for_the_name(family: World) -> None:
    access = family.access
    access.grants.add(family.alice, "alice-1", "carol", "writer")
    with pytest.raises(Forbidden, match="FORK"):
        access.catalogs.fork(family.carol, ForkRequest("alice-1", ["carol-1"]))
    with pytest.raises(NotFound):
        access.catalogs.fork(family.carol, ForkRequest("bob-1", ["carol-1"]))
    access.grants.add(family.alice, "alice-1", "carol", "forker")
    stated = []
    for name in ("bob-1", "bob-nothing", "carol=1"):  # taken, free, and not quite her own prefix
        with pytest.raises(Forbidden) as caught:
            access.catalogs.fork(family.carol, ForkRequest("alice-1", ["carol-1", name]))
        stated.append(str(caught.value).replace(f"'{name}'", "…"))
    assert len(set(stated)) == 1
    assert family.metastore.find("carol-1") is None
    assert access.catalogs.fork(family.carol, ForkRequest("alice-1", ["carol-1"]))[1] == 1


def test_a_token_may_fork_only_its_catalog(family: World) -> None:
    token = family.access.tokens.create(family.bob, "alice-1", [Right.READ, Right.FORK], 600)
    caller = family.access.authentication.identify(token)
    (row,), made = family.access.catalogs.fork(caller, ForkRequest("alice-1", ["bob-by-token"]))
    assert made == 1
    assert rights(family, caller, row.catalog_name) == NOTHING
    assert rights(family, family.bob, row.catalog_name) == ROLES[Role.OWNER]
    with pytest.raises(NotFound):
        family.access.catalogs.fork(caller, ForkRequest("bob-1", ["bob-more"]))


def test_an_existing_fork_is_returned_only_to_its_readers(family: World) -> None:
    access = family.access
    rows, made = access.catalogs.fork(
        family.bob, ForkRequest("alice-1", ["bob-1", "bob-new"], if_not_exists=True)
    )
    assert ({row.catalog_name for row in rows}, made) == ({"bob-1", "bob-new"}, 1)
    access.prefixes.add(family.root, "bob-", "carol", "admin")
    with pytest.raises(AlreadyExists):
        access.catalogs.create(family.carol, CreateRequest(["bob-1"], if_not_exists=True))
    wanted = CreateRequest(["bob-of-carol"], if_not_exists=True)
    rows, made = access.catalogs.create(family.carol, wanted)
    assert made == 1
    assert access.catalogs.create(family.bob, wanted) == (rows, 0)


def test_errors_about_existing_forks_hide_unreadable_parents(family: World) -> None:
    access = family.access
    access.catalogs.create(family.bob, CreateRequest(["bob-own"]))
    with pytest.raises(AlreadyExists, match="is a fork of 'alice-1', not of 'bob-own'"):
        access.catalogs.fork(family.bob, ForkRequest("bob-own", ["bob-1"], if_not_exists=True))
    access.catalogs.create(family.carol, CreateRequest(["carol-1"]))
    access.prefixes.add(family.root, "bob-", "carol", "forker")
    access.prefixes.add(family.root, "bob-", "carol", "admin")
    with pytest.raises(AlreadyExists) as error:
        access.catalogs.fork(family.carol, ForkRequest("carol-1", ["bob-1"], if_not_exists=True))
    assert "alice-1" not in str(error.value)


def test_a_fork_of_a_past_snapshot_follows_the_same_rules(family: World) -> None:
    catalog = family.metastore.catalog("alice-1")
    before = catalog.head().snapshot_id
    with catalog.transaction() as transaction:
        transaction.create_schema("later")
    (row,), _ = family.access.catalogs.fork(
        family.bob, ForkRequest("alice-1", ["bob-past"], at=before)
    )
    assert row.fork_snapshot == before
    family.access.grants.revoke(family.alice, "alice-1", "bob")
    assert rights(family, family.bob, "bob-past") == NOTHING


ROLE = st.sampled_from([None, *Role])
PREFIX = st.builds(PrefixGrant, st.sampled_from(["", "a", "ab", "b"]), st.sampled_from(list(Role)))


@given(
    chain=st.lists(st.tuples(st.sampled_from(["a", "ab", "abc", "b"]), ROLE), min_size=1),
    prefixes=st.lists(PREFIX, max_size=3),
)
def test_an_additional_ancestor_never_adds_rights(
    chain: list[tuple[str, Role | None]], prefixes: list[PrefixGrant]
) -> None:
    caller = Caller(1, "somebody", "some")  # language: ok
    links = [Link(CatalogId(number), *one) for number, one in enumerate(chain)]
    with_all = effective_rights(caller, CatalogId(0), links, prefixes)
    with_fewer = effective_rights(caller, CatalogId(0), links[:-1] or links, prefixes)
    alone = effective_rights(caller, CatalogId(0), links[:1], prefixes)
    assert with_all <= with_fewer <= alone
    reads_all = all(
        Right.READ in effective_rights(caller, link.catalog_id, [link], prefixes) for link in links
    )
    assert with_all == (alone if reads_all else NOTHING)


def test_a_token_of_a_root_has_only_the_rights_of_the_token(family: World) -> None:
    token = family.access.tokens.create(family.root, "alice-1", [Right.READ, Right.FORK], 600)
    caller = family.access.authentication.identify(token)
    assert [row.catalog_name for row in family.access.visible.catalogs(caller)] == ["alice-1"]
    with pytest.raises(Forbidden):
        family.access.catalogs.fork(caller, ForkRequest("alice-1", ["anything"]))
    with pytest.raises(Forbidden):
        family.access.principals.list(caller)
    with pytest.raises(NotFound):
        family.access.authorization.catalog(caller, "bob-1", "catalog.get")
