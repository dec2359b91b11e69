"""Common base of the access rules: the databases, the clock, and the audit log.

Principals, their keys and the keys that sign tokens are in the home metastore. Grants, quotas and
audit entries are in the metastore of the catalogs that they refer to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from forklake.access.cache import FRESH_SECONDS, memory_of
from forklake.access.callers import Caller
from forklake.access.denials import Refused, denials_of
from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import Forbidden, ForklakeError, NotFound
from forklake.model.ids import CatalogId
from forklake.store.access import has_principals, install, is_installed
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


class Ground:
    """The metastore, the home metastore of its principals, and its audit log."""

    def __init__(
        self,
        metastore: Metastore,
        *,
        home: Metastore | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.metastore = metastore
        self._now = clock
        self._here = Installation(metastore.database)
        self._home = self._here
        if home is not None and home.database is not metastore.database:
            self._home = Installation(home.database)
        self._memory = memory_of(self._home.database)
        self._denials = denials_of(metastore.database)
        self._has_rules = False
        self._rules_asked = float("-inf")

    def init(self) -> None:
        """Create the tables of access rules if they do not exist."""
        self._here.make()
        self._home.make()

    def is_open(self) -> bool:
        """Return whether no principal exists, so that every caller is `LOCAL`."""
        if not self._has_rules and time.monotonic() - self._rules_asked > FRESH_SECONDS:
            self._has_rules = self._home.is_there() and self._ask_for_principals()
            self._rules_asked = time.monotonic()
        return not self._has_rules

    def _ask_for_principals(self) -> bool:
        with self._home.database.reading() as connection:
            return has_principals(connection)

    def _actor(self, caller: Caller) -> Actor:
        return Actor(caller.principal_id, caller.name, self._now())

    def _note(self, caller: Caller, deed: Deed, outcome: Outcome) -> None:
        """Write an audit entry, unless the metastore has no access rules."""
        if not self._here.is_there():
            return
        refused = Refused(caller.principal_id, caller.name, deed.operation, outcome)
        if outcome is Outcome.DONE or self._denials.is_to_write(refused):
            write_audit(self._here.database, self._actor(caller), deed, outcome)

    def write_denials(self) -> None:
        """Write summary audit entries for denials that were too frequent for an entry each."""
        if not self._here.is_there():
            return
        for refused, count in self._denials.take():
            actor = Actor(refused.principal_id, refused.principal, self._now())
            deed = Deed(refused.operation, f"{count} more, not listed one by one")
            write_audit(self._here.database, actor, deed, refused.outcome)

    def note_denial(self, caller: Caller, operation: str, object: str) -> None:
        """Write an audit entry for a denied operation that concerns no single catalog."""
        self._note(caller, Deed(operation, object), Outcome.DENIED)

    def _forbidden(self, caller: Caller, deed: Deed, needed: str) -> Forbidden:
        """Return the error for an operation that the caller may not do, and write it to the audit.

        Args:
            needed: what the operation requires, for the message.
        """
        self._note(caller, deed, Outcome.DENIED)
        return Forbidden(
            f"The principal '{caller.name}' may not do {deed.operation} on '{deed.object}'.",
            remedy=f"This requires {needed}. An administrator can grant it.",
            operation=deed.operation,
        )

    @contextmanager
    def audited(
        self, caller: Caller, operation: str, object: str, *, catalog: Catalog | None = None
    ) -> Iterator[None]:
        """Write the outcome of the block to the audit: done, denied or failed."""
        number: CatalogId | None = None if catalog is None else catalog.catalog_id
        deed = Deed(operation, object, number)
        try:
            yield
        except ForklakeError as error:
            denied = isinstance(error, Forbidden)
            self._note(caller, deed, Outcome.DENIED if denied else Outcome.FAILED)
            raise
        except BaseException:
            self._note(caller, deed, Outcome.FAILED)
            raise
        self._note(caller, deed, Outcome.DONE)
