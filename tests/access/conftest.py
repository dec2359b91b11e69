"""A metastore with access rules, and people whom they are about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.store.audit import AuditRow

PEOPLE = ("alice", "bob", "carol")


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


class World:
    """Access rules, a root, and people who may make catalogs whose names begin with theirs."""

    def __init__(self, metastore: Metastore) -> None:
        self.metastore = metastore
        self.clock = Clock()
        self.access = Access(metastore, clock=self.clock)
        self.access.init()
        self.access.create_principal(LOCAL, "root", "house", is_root=True)
        for name in PEOPLE:
            self.access.create_principal(LOCAL, name, name, prefixes=[f"{name}-"])
        self.keys = {name: self.access.create_key(LOCAL, name)[1] for name in ("root", *PEOPLE)}
        self.root, self.alice, self.bob, self.carol = map(self.caller, ("root", *PEOPLE))

    def caller(self, name: str) -> Caller:
        """Somebody who shows their key."""
        return self.access.caller(self.keys[name])

    def stranger(self, name: str) -> Caller:
        """A new principal, without any grant."""
        self.access.create_principal(LOCAL, name, name)
        self.keys[name] = self.access.create_key(LOCAL, name)[1]
        return self.caller(name)

    def entries(self, catalog: str | None = None) -> list[AuditRow]:
        """The audit, the oldest first."""
        return self.access.audit(LOCAL, catalog=catalog, limit=10_000)[::-1]


@pytest.fixture
def backend() -> str:
    """The quickest one, unless a test asks for another."""
    return "sqlite"


@pytest.fixture
def world(metastore: Metastore) -> World:
    """Access rules over a fresh metastore."""
    return World(metastore)
