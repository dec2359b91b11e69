"""A metastore with access rules, and its principals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.store.audit import AuditRow

PEOPLE = ("alice", "bob", "carol")


class Clock:
    """A clock that advances only explicitly."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += timedelta(seconds=seconds)


class World:
    """Access rules, a root, and principals who may create catalogs with their prefix."""

    def __init__(self, metastore: Metastore) -> None:
        self.metastore = metastore
        self.clock = Clock()
        self.access = Access(metastore, clock=self.clock)
        self.access.init()
        self.access.principals.create(LOCAL, "root", "house", is_root=True)
        for name in PEOPLE:
            self.access.principals.create(LOCAL, name, name, prefixes=[f"{name}-"])
        self.keys = {name: self.access.keys.create(LOCAL, name)[1] for name in ("root", *PEOPLE)}
        self.root, self.alice, self.bob, self.carol = map(self.caller, ("root", *PEOPLE))

    def caller(self, name: str) -> Caller:
        """Return the caller that a principal's key authenticates."""
        return self.access.authentication.identify(self.keys[name])

    def stranger(self, name: str) -> Caller:
        """Create a principal without grants."""
        self.access.principals.create(LOCAL, name, name)
        self.keys[name] = self.access.keys.create(LOCAL, name)[1]
        return self.caller(name)

    def entries(self, catalog: str | None = None) -> list[AuditRow]:
        """Return the audit, oldest entry first."""
        return [*reversed(self.access.audit.list(LOCAL, catalog=catalog, limit=10_000))]


@pytest.fixture
def backend() -> str:
    """Return the fastest backend; tests override it."""
    return "sqlite"


@pytest.fixture
def world(metastore: Metastore) -> World:
    """Return access rules over a fresh metastore."""
    return World(metastore)
