"""Two stamps on a real PostgreSQL server, with principals of two accounts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

import forklake
from forklake import Metastore
from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.crucible.stamps import Stamps
from tests.concurrency.raw import RawMetastore
from tests.fix_metastore import Place

_TEMPLATE = "TEMPLATE template0 ENCODING 'UTF8' STRATEGY wal_log"


@contextmanager
def database(server: Any) -> Iterator[str]:
    """Create a fresh, empty database, and yield its attach string."""
    name = f"stamp_{uuid.uuid4().hex}"
    with psycopg.connect(server.dsn(), autocommit=True) as owner:
        owner.execute(sql.SQL(f"CREATE DATABASE {{}} {_TEMPLATE}").format(sql.Identifier(name)))
        yield f"ducklake:postgres:{server.dsn(name)}"
        owner.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@dataclass(frozen=True)
class World:
    """A home metastore, a second stamp `east`, and their addresses."""

    stamps: Stamps
    places: dict[str, Place]

    def access(self, account: str) -> Access:
        """Return the current access rules of an account."""
        self.stamps.clear_cache()
        return self.stamps.access_for(account)

    def metastore(self, account: str) -> Metastore:
        """Return the current metastore of an account."""
        self.stamps.clear_cache()
        return self.stamps.metastore_of(account)

    def caller(self, name: str, account: str) -> Caller:
        """Return a principal of an account, creating it if necessary."""
        access = self.access(account)
        for one in access.principals.list(LOCAL):
            if one.name == name:
                return Caller(one.principal_id, name, account)
        made = access.principals.create(LOCAL, name, account, prefixes=[f"{account}-"])
        return Caller(made.principal_id, name, account)

    def raw(self, stamp: str) -> RawMetastore:
        """Return all rows of a stamp."""
        return RawMetastore(self.places[stamp])


@contextmanager
def world(server: Any) -> Iterator[World]:
    """Yield two stamps without accounts."""
    with ExitStack() as stack:
        uris = {name: stack.enter_context(database(server)) for name in ("home", "east")}
        home = stack.enter_context(forklake.open(uris["home"], create=True))
        stamps = Stamps(home, {"east": uris["east"]})
        stack.callback(stamps.close)
        yield World(stamps, {name: Place("postgresql", uri) for name, uri in uris.items()})
