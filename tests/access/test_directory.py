"""Principals, grants, and the audit of their changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from forklake import Metastore
from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.access.roles import NOTHING, ROLES, Right, Role
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, QuotaExceeded
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.audit import Outcome
from tests.access.conftest import World
from tests.fix_metastore import BACKENDS

SERVER_TOO = pytest.mark.parametrize("backend", ["sqlite", "postgresql", "mysql"])
BAD_NAMES = ["", " x", "x ", "a\0b", "a\nb", "a/b", "x" * 256, "\u202ex", "\u200b"]


@SERVER_TOO
def test_principals_are_listed_by_name(world: World) -> None:
    found = world.access.principals.list(world.root)
    assert [(one.name, one.account, one.is_root) for one in found] == [
        ("alice", "alice", False),
        ("bob", "bob", False),
        ("carol", "carol", False),
        ("root", "house", True),
    ]
    world.access.principals.disable(world.root, "bob")
    assert [one.name for one in world.access.principals.list(world.root) if one.is_disabled] == [
        "bob"
    ]
    with pytest.raises(AlreadyExists):  # its name stays taken
        world.access.principals.create(world.root, "bob")
    world.access.init()  # keeps everything
    assert len(world.access.principals.list(world.root)) == 4


def test_bad_names_change_nothing(world: World) -> None:
    for name in BAD_NAMES:
        with pytest.raises(InvalidInput):
            world.access.principals.create(world.root, name)
        with pytest.raises(NotFound):
            world.access.keys.create(world.root, name)
    for prefix in set(BAD_NAMES) - {"", "a/b"}:
        with pytest.raises(InvalidInput):
            world.access.principals.create(world.root, "good", prefixes=[prefix])
    assert len(world.access.principals.list(world.root)) == 4


def test_grants_are_given_changed_and_revoked(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.grants.add(world.alice, "alice-1", "bob", "reader")
    access.grants.add(world.alice, "alice-1", "bob", "writer")
    assert [(one.principal, one.role) for one in access.grants.list(world.alice, "alice-1")] == [
        ("alice", "owner"),
        ("bob", "writer"),
    ]
    assert access.authorization.rights(world.bob, ["alice-1"])["alice-1"] == ROLES[Role.WRITER]
    access.grants.revoke(world.alice, "alice-1", "bob")
    assert access.authorization.rights(world.bob, ["alice-1"])["alice-1"] == NOTHING
    with pytest.raises(NotFound, match="no role"):
        access.grants.revoke(world.alice, "alice-1", "bob")


def test_bad_grants_change_nothing(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    before = access.grants.list(world.alice, "alice-1")
    for role in ("", "king", "OWNER", "o"):
        with pytest.raises(InvalidInput, match="reader, forker"):
            access.grants.add(world.alice, "alice-1", "bob", role)
    with pytest.raises(NotFound, match="Principal"):
        access.grants.add(world.alice, "alice-1", "nobody", "reader")  # language: ok
    for moment in (world.clock(), datetime(2040, 1, 1)):  # noqa: DTZ001
        with pytest.raises(InvalidInput, match="The time"):
            access.grants.add(world.alice, "alice-1", "bob", "reader", expires_at=moment)
    with pytest.raises(Forbidden):  # prefixes are for roots
        access.prefixes.add(world.alice, "alice-", "bob", "reader")
    assert access.grants.list(world.alice, "alice-1") == before


def test_admins_cannot_grant_the_admin_role(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.grants.add(world.alice, "alice-1", "bob", "admin")
    for role in ("admin", "owner"):
        with pytest.raises(Forbidden, match="OWN"):
            access.grants.add(world.bob, "alice-1", "carol", role)
        with pytest.raises(Forbidden, match="OWN"):  # not to themselves either
            access.grants.add(world.bob, "alice-1", "bob", role)
    with pytest.raises(Forbidden, match="OWN"):
        access.grants.revoke(world.bob, "alice-1", "alice")
    with pytest.raises(Forbidden, match="OWN"):
        access.grants.add(world.bob, "alice-1", "alice", "reader")
    with pytest.raises(Forbidden, match="OWN"):  # with bob's prefix it would be his own
        access.catalogs.rename(world.bob, "alice-1", "bob-1")
    assert access.authorization.rights(world.bob, ["alice-1"])["alice-1"] == ROLES[Role.ADMIN]
    access.grants.add(world.bob, "alice-1", "carol", "writer")
    access.grants.revoke(world.bob, "alice-1", "carol")


def test_a_catalog_always_has_a_permanent_owner(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    soon = world.clock() + timedelta(days=1)
    with pytest.raises(InvalidInput, match="no owner"):
        access.grants.add(world.alice, "alice-1", "alice", "admin")
    with pytest.raises(InvalidInput, match="no owner"):
        access.grants.add(world.alice, "alice-1", "alice", "owner", expires_at=soon)
    access.grants.add(world.alice, "alice-1", "bob", "owner", expires_at=soon)
    with pytest.raises(InvalidInput, match="no owner"):  # bob is the owner for a day only
        access.grants.revoke(world.alice, "alice-1", "alice")
    access.grants.add(world.alice, "alice-1", "bob", "owner")
    access.grants.revoke(world.alice, "alice-1", "alice")


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
@pytest.mark.parametrize("way", ["revoke", "grant"])
def test_two_owners_cannot_revoke_each_other_concurrently(world: World, way: str) -> None:
    access = world.access

    def end(caller: Caller, other: str) -> bool:
        try:
            if way == "revoke":
                access.grants.revoke(caller, "alice-1", other)
            else:
                access.grants.add(caller, "alice-1", other, "reader")
        except (InvalidInput, Forbidden, NotFound):
            return False
        return True

    for _ in range(20):
        access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
        access.grants.add(world.alice, "alice-1", "bob", "owner")
        with ThreadPoolExecutor(2) as pool:
            ended = [pool.submit(end, world.alice, "bob"), pool.submit(end, world.bob, "alice")]
        assert [one.result() for one in ended].count(True) == 1
        assert Role.OWNER in {one.role for one in access.grants.list(LOCAL, "alice-1")}
        access.catalogs.drop(LOCAL, ["alice-1"])


@SERVER_TOO
def test_grants_expire(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    soon = world.clock() + timedelta(seconds=10)
    access.grants.add(world.alice, "alice-1", "bob", "reader", expires_at=soon)
    access.prefixes.add(world.root, "alice-", "carol", "reader", expires_at=soon)
    assert [one.expires_at for one in access.grants.list(world.alice, "alice-1")] == [None, soon]
    for caller in (world.bob, world.carol):
        assert access.authorization.rights(caller, ["alice-1"])["alice-1"] == {Right.READ}
        assert len(access.visible.catalogs(caller)) == 1
    world.clock.advance(10)
    for caller in (world.bob, world.carol):
        assert access.authorization.rights(caller, ["alice-1"])["alice-1"] == NOTHING
        assert access.visible.catalogs(caller) == []


def test_prefixes_are_granted_and_revoked(world: World) -> None:
    access = world.access
    access.prefixes.add(world.root, "team-", "alice", "admin")
    assert [one.prefix for one in access.prefixes.list(world.alice, "alice")] == ["alice-", "team-"]
    access.catalogs.create(world.alice, CreateRequest(["team-1"]))
    access.prefixes.add(world.root, "team-", "alice", "writer")
    with pytest.raises(Forbidden):  # writers may not create catalogs
        access.catalogs.create(world.alice, CreateRequest(["team-2"]))
    access.prefixes.revoke(world.root, "team-", "alice")
    assert (
        access.authorization.rights(world.alice, ["team-1"])["team-1"] == ROLES[Role.OWNER]
    )  # her own


def test_principals_of_one_metastore_are_valid_in_another(world: World, tmp_path: object) -> None:
    import forklake

    with forklake.open(f"ducklake:{tmp_path}/stamp.db", create=True) as stamp:
        access = Access(stamp, home=world.metastore, clock=world.clock)
        access.init()
        alice = access.authentication.identify(world.keys["alice"])
        assert alice == world.alice
        with pytest.raises(Forbidden):  # prefixes are granted in the metastore of the catalogs
            access.catalogs.create(alice, CreateRequest(["alice-1"]))
        access.prefixes.add(
            access.authentication.identify(world.keys["root"]), "alice-", "alice", "owner"
        )
        access.catalogs.create(alice, CreateRequest(["alice-1"]))
        access.grants.add(alice, "alice-1", "bob", "reader")
        assert [one.principal for one in access.grants.list(alice, "alice-1")] == ["alice", "bob"]
        token = access.tokens.create(alice, "alice-1", [Right.READ], 60)
        assert world.access.authentication.identify(token) == access.authentication.identify(token)
        assert world.metastore.count() == 0
        with stamp.database.reading() as connection:
            assert connection.fetch("SELECT * FROM crucible_principal") == []


@SERVER_TOO
def test_concurrent_initializations_share_one_signing_key(metastore: Metastore) -> None:
    metastore.create_catalog("sales")
    tokens: list[str] = []

    def begin(number: int) -> None:
        access = Access(metastore)
        access.init()
        access.principals.create(LOCAL, f"p{number}", is_root=True)
        caller = access.principals.act_as(LOCAL, f"p{number}")
        tokens.append(access.tokens.create(caller, "sales", [Right.READ], 60))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(8)))
    access = Access(metastore)
    assert {one.principal_id for one in access.principals.list(LOCAL)} == set(range(1, 9))
    assert {access.authentication.identify(token).name for token in tokens} == {
        f"p{one}" for one in range(8)
    }
    assert {token.split(".")[5] for token in tokens} == {"000001"}


# The audit


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_audit_records_done_denied_and_failed_operations(world: World) -> None:
    access = world.access
    before = len(world.entries())
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.catalogs.fork(world.alice, ForkRequest("alice-1", ["alice-2"]))
    access.grants.add(world.alice, "alice-1", "bob", "reader")
    with pytest.raises(Forbidden):
        access.authorization.catalog(world.bob, "alice-1", "schema.create")
    with pytest.raises(NotFound):
        access.authorization.catalog(world.carol, "alice-1", "catalog.get")
    with pytest.raises(Forbidden):
        access.authorization.require(world.bob, "principal.list")
    with pytest.raises(AlreadyExists):
        access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.quotas.set(world.root, "alice", catalogs=2)
    with pytest.raises(QuotaExceeded):
        access.catalogs.create(world.alice, CreateRequest(["alice-3", "alice-4"]))
    with access.audit.recording(world.alice, "table.create", "alice-1.main.t"):
        pass
    with pytest.raises(ZeroDivisionError), access.audit.recording(world.alice, "table.drop", "t"):
        1 / 0  # noqa: B018
    access.catalogs.rename(world.alice, "alice-2", "alice-5")
    access.catalogs.drop(world.alice, ["alice-5"])
    found = world.entries()[before:]
    assert [(one.principal, one.operation, one.object, one.outcome.value) for one in found] == [
        ("alice", "catalog.create", "alice-1", "done"),
        ("alice", "catalog.fork", "alice-2", "done"),
        ("alice", "grants.set", "alice-1: reader to bob", "done"),
        ("bob", "schema.create", "alice-1", "denied"),
        ("carol", "catalog.get", "alice-1", "denied"),
        ("bob", "principal.list", "metastore", "denied"),
        ("alice", "catalog.create", "alice-1", "failed"),
        ("root", "quota.set", "alice", "done"),
        ("alice", "catalog.create", "alice-3 and 1 more", "failed"),
        ("alice", "table.create", "alice-1.main.t", "done"),
        ("alice", "table.drop", "t", "failed"),
        ("alice", "catalog.rename", "alice-5 from alice-2", "done"),
        ("alice", "catalog.drop", "alice-5", "done"),
    ]
    assert all(one.happened_at == world.clock() for one in found)


def test_admins_read_the_audit_of_their_catalog_page_by_page(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2"]))
    for number in range(5):
        with pytest.raises(NotFound):
            access.authorization.catalog(
                world.bob, "alice-1", f"{('schema', 'table')[number % 2]}.list"
            )
    first = access.audit.list(world.alice, catalog="alice-1", limit=4)
    rest = access.audit.list(world.alice, catalog="alice-1", limit=4, after=first[-1].audit_id)
    assert [one.outcome for one in [*first, *rest]] == [Outcome.DENIED] * 5 + [Outcome.DONE]
    assert access.audit.list(world.alice, catalog="alice-1", after=rest[-1].audit_id) == []
    with pytest.raises(Forbidden):
        access.audit.list(world.alice)
    access.grants.add(world.alice, "alice-1", "bob", "writer")
    with pytest.raises(Forbidden):
        access.audit.list(world.bob, catalog="alice-1")
    for limit in (0, 10**9):
        with pytest.raises(InvalidInput):
            access.audit.list(world.alice, catalog="alice-1", limit=limit)


def test_a_failed_change_is_not_audited_as_done(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(metastore)
    monkeypatch.setattr("forklake.store.forks.reached", _fail_at("fork.prepared"))
    world.access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    with pytest.raises(RuntimeError, match=r"fork\.prepared"):
        world.access.catalogs.fork(world.alice, ForkRequest("alice-1", ["alice-2"]))
    assert metastore.find("alice-2") is None
    assert [one.object for one in world.entries() if one.operation == "catalog.fork"] == []


def _fail_at(phase: str) -> object:
    def reached(name: str) -> None:
        if name == phase:
            raise RuntimeError(name)

    return reached


def test_any_requested_name_can_be_audited(world: World) -> None:
    with pytest.raises(NotFound):
        world.access.authorization.catalog(world.alice, "a\0\ud800" + "x" * 5000, "catalog.get")
    last = world.entries()[-1]
    assert last.object.startswith("a\\x00\\ud800xxx")
    assert len(last.object) < 1100


def test_local_callers_may_do_everything_and_are_audited(world: World) -> None:
    world.access.catalogs.create(LOCAL, CreateRequest(["house"]))
    assert world.entries()[-1].principal == "local"
    assert world.access.authorization.rights(LOCAL, ["house", "none"]) == {
        "house": frozenset(Right),
        "none": NOTHING,
    }
