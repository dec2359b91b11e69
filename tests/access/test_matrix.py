"""The access matrix: every role with every operation, on a real metastore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pytest

import forklake
from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.access.roles import OPERATIONS, ROLES, Right, Role, Special
from forklake.errors import Forbidden, ForklakeError, NotFound
from forklake.model.requests import CreateRequest, ForkRequest
from tests.access.conftest import World

# The holders of each right, stated independently of the implementation.
HOLDERS = {
    Right.READ: "reader forker writer admin owner",
    Right.FORK: "forker admin owner",
    Right.WRITE: "writer admin owner",
    Right.ADMINISTER: "admin owner",
    Right.OWN: "owner",
}
ON_CATALOGS = [name for name, needed in OPERATIONS.items() if isinstance(needed, Right)]
ON_NONE = [name for name, needed in OPERATIONS.items() if isinstance(needed, Special)]
WHO = [*map(str, Role), "stranger", "root", "token", "root token"]


def test_roles_have_the_listed_rights() -> None:
    for right, holders in HOLDERS.items():
        assert {role for role in Role if right in ROLES[role]} == set(holders.split())


def test_changing_operations_need_more_than_read() -> None:
    changing = ("create", "alter", "drop", "set", "run", "rename", "extend", "materialize", "add")
    for name, needed in OPERATIONS.items():
        verb = name.partition(".")[2]
        if verb in changing:
            assert needed not in {Right.READ, Special.ANYONE}, name
        if verb in {"list", "get", "read"} and isinstance(needed, Right) and name != "grants.list":
            assert needed is Right.READ, name


class House(NamedTuple):
    """The rules of a metastore with the catalog `house`, and a principal in every role on it."""

    access: Access
    people: dict[str, Caller]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Yield the rules, shared by tests that change nothing."""
    path = tmp_path_factory.mktemp("house") / "metastore.db"
    with forklake.open(f"ducklake:{path}", create=True) as metastore:
        world = World(metastore)
        access = world.access
        access.catalogs.create(world.root, CreateRequest(["house"]))
        people = {"root": world.root, "stranger": world.stranger("stranger")}
        for role in Role:
            people[role] = world.stranger(role)
            access.grants.add(world.root, "house", role, role)
        token = access.tokens.create(people["owner"], "house", [Right.READ, Right.FORK], 600)
        root_token = access.tokens.create(world.root, "house", [Right.READ, Right.WRITE], 600)
        people |= {
            "token": access.authentication.identify(token),
            "root token": access.authentication.identify(root_token),
        }
        yield House(access, people)


def rights_of(who: str) -> frozenset[Right]:
    """Return the rights of a principal on the house."""
    others = {
        "stranger": frozenset[Right](),
        "root": frozenset(Right),
        "token": frozenset({Right.READ, Right.FORK}),
        "root token": frozenset({Right.READ, Right.WRITE}),
    }
    return others[who] if who in others else ROLES[Role(who)]


def outcome(act: Callable[[], object]) -> type[ForklakeError] | None:
    """Return the kind of error of an action, or None."""
    try:
        act()
    except (Forbidden, NotFound) as error:
        return type(error)
    return None


@pytest.mark.parametrize("who", WHO)
def test_a_role_may_use_exactly_the_listed_operations(house: House, who: str) -> None:
    rights = rights_of(who)
    refused = Forbidden if rights else NotFound
    found = {
        operation: outcome(
            partial(house.access.authorization.catalog, house.people[who], "house", operation)
        )
        for operation in ON_CATALOGS
    }
    assert found == {
        operation: None if OPERATIONS[operation] in rights else refused for operation in ON_CATALOGS
    }


@pytest.mark.parametrize("who", WHO)
def test_operations_without_a_catalog_are_for_roots_oneself_or_everyone(
    house: House, who: str
) -> None:
    caller = house.people[who]
    for operation in ON_NONE:
        rule = OPERATIONS[operation]
        for_all = who == "root" or rule is Special.ANYONE
        for_self = for_all or (rule is Special.SELF and caller.bound is None)
        require = partial(house.access.authorization.require, caller, operation)
        about_self = outcome(partial(require, principal=caller.name))
        about_bob = outcome(partial(require, principal="bob"))
        assert about_self is (None if for_self else Forbidden), operation
        assert about_bob is (None if for_all else Forbidden), operation


# Actions, by the operation that they must check.
ACTS: dict[str, Callable[[World, Caller], object]] = {
    "catalog.get": lambda world, caller: world.access.authorization.catalog(
        caller, "house", "catalog.get"
    ),
    "catalog.fork": lambda world, caller: world.access.catalogs.fork(
        caller, ForkRequest("house", ["own-fork"])
    ),
    "catalog.rename": lambda world, caller: world.access.catalogs.rename(
        caller, "house", "own-house"
    ),
    "catalog.drop": lambda world, caller: world.access.catalogs.drop(caller, ["house"]),
    "grants.list": lambda world, caller: world.access.grants.list(caller, "house"),
    "grants.set": lambda world, caller: world.access.grants.add(caller, "house", "bob", "reader"),
    "grants.own": lambda world, caller: world.access.grants.add(caller, "house", "bob", "admin"),
    "token.mint": lambda world, caller: world.access.tokens.create(
        caller, "house", [Right.READ], 60
    ),
    "quota.get": lambda world, caller: world.access.quotas.find_catalog_limit(caller, "house"),
    "audit.catalog": lambda world, caller: world.access.audit.list(caller, catalog="house"),
    "audit.all": lambda world, caller: world.access.audit.list(caller),
    "quota.set": lambda world, caller: world.access.quotas.set_catalog_limit(caller, "house", 10),
    "principal.list": lambda world, caller: world.access.principals.list(caller),
    "principal.create": lambda world, caller: world.access.principals.create(caller, "new"),
    "principal.disable": lambda world, caller: world.access.principals.disable(caller, "bob"),
    "key.create": lambda world, caller: world.access.keys.create(caller, "bob"),
    "key.list": lambda world, caller: world.access.keys.list(caller, "bob"),
    "grants.prefix": lambda world, caller: world.access.prefixes.add(caller, "", "bob", "owner"),
    "signing.rotate": lambda world, caller: world.access.signing_keys.rotate(caller),
}


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_methods_check_their_own_operation(world: World) -> None:
    world.access.catalogs.create(world.root, CreateRequest(["house"]))
    for role in Role:
        caller = world.stranger(role)
        world.access.grants.add(world.root, "house", role, role)
        world.access.prefixes.add(LOCAL, "own-", role, "admin")
        for operation, act in ACTS.items():
            needed = OPERATIONS[operation]
            is_allowed = isinstance(needed, Right) and needed in ROLES[role]
            found = outcome(partial(act, world, caller))
            assert found is (None if is_allowed else Forbidden), f"{role}: {operation}"
            _put_back(world, role, operation, is_allowed)


def _put_back(world: World, role: Role, operation: str, was_done: bool) -> None:
    """Restore the previous state."""
    access = world.access
    if not was_done:
        return
    if operation == "catalog.fork":
        access.catalogs.drop(LOCAL, ["own-fork"])
    if operation == "catalog.rename":
        access.catalogs.rename(LOCAL, "own-house", "house")
    if operation == "catalog.drop":
        access.catalogs.create(LOCAL, CreateRequest(["house"]))
        access.grants.add(LOCAL, "house", role, role)
