"""What all parts of the access rules share: the databases, the clock, the cache and the denials.

Principals, their keys and the keys that sign tokens are in the home metastore. Grants, quotas and
audit entries are in the metastore of the catalogs that they refer to.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from forklake.access.cache import FRESH_SECONDS, cache_of
from forklake.access.callers import Caller
from forklake.access.denials import Refused, denials_of
from forklake.catalog.metastore import Metastore
from forklake.errors import NotFound
from forklake.store.access import install, is_installed
from forklake.store.audit import Actor, Deed, Outcome, write_audit
from forklake.store.database import Database


class Installation:
    """A database, and whether the tables of access rules exist in it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._is_there = False
        self._asked = float("-inf")

    def is_there(self) -> bool:
        """Return whether the tables exist. A negative answer may be FRESH_SECONDS old."""
        if not self._is_there and time.monotonic() - self._asked > FRESH_SECONDS:
            self._is_there = is_installed(self.database)
            self._asked = time.monotonic()
        return self._is_there

    def make(self) -> None:
        """Create the tables if they do not exist."""
        install(self.database)
        self._is_there = True

    def required(self) -> Database:
        """Return the database; raise NotFound if the tables do not exist."""
        if not self.is_there():
            raise NotFound(
                f"The metastore {self.database.address} has no tables for access rules.",
                remedy="Create them with: forklake access init.",
            )
        return self.database


class AccessContext:
    """The metastore, the home metastore of its principals, and the state that both share.

    With `is_frozen`, the account that uses the metastore is being moved: nothing may be changed.
    """

    def __init__(
        self,
        metastore: Metastore,
        *,
        home: Metastore | None,
        is_frozen: bool,
        clock: Callable[[], datetime],
    ) -> None:
        self.metastore = metastore
        self.is_frozen = is_frozen
        self.now = clock
        self.here = Installation(metastore.database)
        self.home = self.here
        if home is not None and home.database is not metastore.database:
            self.home = Installation(home.database)
        self.cache = cache_of(self.home.database)
        self.denials = denials_of(metastore.database)

    def actor(self, caller: Caller) -> Actor:
        """Return the caller as it is named in audit entries, with the current time."""
        return Actor(caller.principal_id, caller.name, self.now())

    def record(self, caller: Caller, deed: Deed, outcome: Outcome) -> None:
        """Write an audit entry, unless the metastore has no access rules."""
        if not self.here.is_there():
            return
        refused = Refused(caller.principal_id, caller.name, deed.operation, outcome)
        if outcome is Outcome.DONE or self.denials.is_to_write(refused):
            write_audit(self.here.database, self.actor(caller), deed, outcome)
