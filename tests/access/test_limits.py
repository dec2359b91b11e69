"""Limits on unprivileged callers: quotas of others, growth of the audit, names of principals."""

from __future__ import annotations

from functools import partial

import pytest

from forklake.access.access import Access
from forklake.access.denials import BURST, GUESSES_PER_HOUR, Denials, Refused
from forklake.access.roles import Role
from forklake.errors import Forbidden, NotFound, QuotaExceeded, RateLimited
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.audit import Outcome
from tests.access.conftest import World
from tests.fix_metastore import BACKENDS

# Quotas


@pytest.mark.parametrize("backend", BACKENDS)
def test_ownership_granted_by_strangers_does_not_use_up_a_quota(world: World) -> None:
    access = world.access
    access.quotas.set(world.root, "bob", catalogs=2)
    access.catalogs.create(world.alice, CreateRequest(["alice-1", "alice-2", "alice-3"]))
    access.grants.add(world.alice, "alice-1", "bob", "owner")
    access.grants.add(world.alice, "alice-2", "bob", "owner")
    with pytest.raises(QuotaExceeded) as caught:
        access.grants.add(world.alice, "alice-3", "bob", "owner")
    assert not caught.value.details  # nor the number of bob's catalogs
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    assert access.catalogs.fork(world.bob, ForkRequest("alice-1", ["bob-2"]))[1] == 1
    for attempt in (
        partial(access.catalogs.create, world.bob, CreateRequest(["bob-3"])),
        partial(fork_more, world),
    ):
        with pytest.raises(QuotaExceeded, match="at most 2"):
            attempt()


def fork_more(world: World) -> None:
    """Create one more fork as bob."""
    world.access.catalogs.fork(world.bob, ForkRequest("bob-1", ["bob-3"]))


def test_owned_catalogs_count_however_they_were_created(world: World) -> None:
    access = world.access
    access.quotas.set(world.root, "bob", catalogs=1)
    access.catalogs.create(world.root, CreateRequest(["bob-by-root"]))
    access.grants.add(world.root, "bob-by-root", "bob", "owner")
    with pytest.raises(QuotaExceeded):
        access.catalogs.create(world.bob, CreateRequest(["bob-1"]))
    access.prefixes.add(world.root, "bob-by", "bob", "reader")
    with pytest.raises(QuotaExceeded):
        access.catalogs.create(world.bob, CreateRequest(["bob-1"]))


def test_the_number_of_keys_of_a_principal_is_limited(world: World) -> None:
    access = world.access
    for _ in range(99):
        access.keys.create(world.bob, "bob")
    with pytest.raises(QuotaExceeded, match="100 active keys"):
        access.keys.create(world.bob, "bob")
    access.keys.revoke(world.bob, "bob", access.keys.list(world.bob, "bob")[5].key_id)
    access.keys.create(world.bob, "bob")


# The audit


def test_repeated_denials_do_not_fill_the_audit(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    before = len(world.entries())
    for number in range(BURST + 50):
        with pytest.raises(NotFound):
            access.authorization.catalog(world.bob, f"nothing-{number}", "catalog.get")
    with pytest.raises(NotFound):
        # Other principals are audited as always.
        access.authorization.catalog(world.carol, "alice-1", "catalog.get")
    written = world.entries()[before:]
    assert BURST <= sum(one.principal == "bob" for one in written) <= BURST + 20
    assert sum(one.principal == "carol" for one in written) == 1
    access.catalogs.create(world.bob, CreateRequest(["bob-1"]))  # and so are completed operations
    assert world.entries("bob-1")[-1].outcome is Outcome.DONE
    Access(world.metastore).audit.write_denials()
    last = world.entries()[-1]
    assert (last.principal, last.operation, last.outcome) == ("bob", "catalog.get", Outcome.DENIED)
    count = int(last.object.split()[0])
    assert count + sum(one.principal == "bob" for one in written) == BURST + 50
    entries = len(world.entries())
    access.audit.write_denials()
    assert len(world.entries()) == entries


def test_denials_are_counted_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forklake.access.denials._MOST_COUNTED", 3)
    denials = Denials()
    for number in range(BURST + 100):
        denials.is_to_write(Refused(1, "bob", f"operation-{number}", Outcome.DENIED))
    counted = dict(denials.take())
    assert len(counted) == 4
    assert sum(counted.values()) >= 90
    assert list(denials.take()) == []


# Names of principals


def test_admins_cannot_probe_names_of_principals(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    for number in range(GUESSES_PER_HOUR):
        with pytest.raises(NotFound):
            access.grants.add(world.alice, "alice-1", f"guess-{number}", "reader")
    answers = set()
    for name in ("bob", "guess", "root"):
        with pytest.raises(RateLimited) as caught:
            access.grants.add(world.alice, "alice-1", name, "reader")
        assert caught.value.details["retry_after"] > 0
        answers.add(str(caught.value))
    assert len(answers) == 1
    access.grants.add(world.root, "alice-1", "bob", "reader")
    access.grants.add(world.alice, "alice-1", "bob", "writer")  # visible in the grants of alice-1
    access.catalogs.create(world.carol, CreateRequest(["carol-1"]))
    access.grants.add(world.carol, "carol-1", "bob", "reader")  # other callers are not limited
    assert any("guess-3" in one.object for one in world.entries("alice-1"))


def test_revoking_a_role_reveals_no_names(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    answers = set()
    for name in ("bob", "bib"):
        with pytest.raises(NotFound) as caught:
            access.grants.revoke(world.alice, "alice-1", name)
        answers.add((str(caught.value).replace(name, "NAME"), tuple(caught.value.details)))
    assert len(answers) == 1


def test_only_owners_may_grant_ownership(world: World) -> None:
    access = world.access
    access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    access.grants.add(world.alice, "alice-1", "bob", Role.ADMIN)
    with pytest.raises(Forbidden):
        access.grants.add(world.bob, "alice-1", "carol", "owner")
