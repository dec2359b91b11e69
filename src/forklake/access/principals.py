"""Principals: users, programs and agents. Managed by roots."""

from __future__ import annotations

import time
from collections.abc import Sequence

from forklake.access.audit import AuditLog
from forklake.access.authorization import Authorization
from forklake.access.cache import FRESH_SECONDS
from forklake.access.callers import Caller, as_caller
from forklake.access.context import AccessContext
from forklake.access.roles import Role
from forklake.errors import InvalidInput
from forklake.model.names import checked_name
from forklake.store import access as store
from forklake.store.access import Principal
from forklake.store.access_grants import PrefixGrant, write_prefix_grant
from forklake.store.audit import Deed, Outcome


class Principals:
    """Principals of one home metastore."""

    def __init__(
        self, context: AccessContext, authorization: Authorization, audit: AuditLog
    ) -> None:
        self._context = context
        self._authorization = authorization
        self._audit = audit
        self._exist = False
        self._asked = float("-inf")

    def is_empty(self) -> bool:
        """Return whether no principal exists, so that every caller is `LOCAL`.

        A positive answer may be FRESH_SECONDS old.
        """
        if not self._exist and time.monotonic() - self._asked > FRESH_SECONDS:
            self._exist = self._context.home.is_there() and self._find_any()
            self._asked = time.monotonic()
        return not self._exist

    def _find_any(self) -> bool:
        with self._context.home.database.reading() as connection:
            return store.has_principals(connection)

    def list(self, caller: Caller) -> Sequence[Principal]:
        """Return all principals, sorted by name."""
        self._authorization.require(caller, "principal.list")
        with self._context.home.required().reading() as connection:
            return store.list_principals(connection)

    def find(self, name: str) -> Principal:
        """Return the principal with a name; raise NotFound if there is none."""
        database = self._context.home.required()
        found = None
        if name.isprintable():  # other names are never valid, and not every database accepts them
            with database.reading() as connection:
                found = store.find_principal(connection, name)
        if found is None:
            raise store.unknown_principal(name)
        return found

    def find_enabled(self, name: str) -> Principal:
        """Do the same as `find`, but raise InvalidInput if the principal is disabled."""
        found = self.find(name)
        if found.is_disabled:
            raise InvalidInput(
                f"The principal '{name}' is disabled.", remedy="Use or create another principal."
            )
        return found

    def create(
        self,
        caller: Caller,
        name: str,
        account: str = "default",
        *,
        is_root: bool = False,
        prefixes: Sequence[str] = (),
    ) -> Principal:
        """Create a principal. It may create catalogs under the prefixes, and owns those."""
        self._authorization.require(caller, "principal.create")
        checked = [checked_prefix(prefix) for prefix in prefixes]
        wanted = _checked_principal_name(name), checked_name(account, "account")
        with self._audit.recording(caller, "principal.create", name):
            made = store.insert_principal(
                self._context.home.required(), *wanted, is_root=is_root, now=self._context.now()
            )
            for prefix in checked:
                grant = PrefixGrant(prefix, Role.OWNER)
                write_prefix_grant(self._context.here.required(), made.principal_id, grant, None)
        self._exist = True
        return made

    def disable(self, caller: Caller, name: str) -> None:
        """Disable a principal: its keys and tokens become invalid."""
        self._authorization.require(caller, "principal.disable")
        found = self.find(name)
        with self._audit.recording(caller, "principal.disable", name):
            database = self._context.home.required()
            store.disable_principal(database, found.principal_id, self._context.now())
            self._context.cache.clear()

    def act_as(self, caller: Caller, name: str) -> Caller:
        """Return a principal as a caller without its key, for roots that act on its behalf."""
        self._authorization.require(caller, "principal.act")
        found = self.find_enabled(name)
        self._context.record(caller, Deed("principal.act", name), Outcome.DONE)
        return as_caller(found)


def _checked_principal_name(name: str) -> str:
    checked = checked_name(name, "principal")
    if "/" in checked:  # the name is part of URLs
        raise InvalidInput(
            f"The principal name {checked!r} contains a slash.", remedy="Choose another name."
        )
    return checked


def checked_prefix(prefix: str) -> str:
    """Return a valid prefix of catalog names; the empty prefix covers all catalogs."""
    return checked_name(prefix, "prefix") if prefix else ""
