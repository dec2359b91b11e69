"""Grants of roles on all catalogs whose names begin with a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.grants import checked_expiry
from forklake.access.principals import Principals, checked_prefix
from forklake.access.roles import role_named
from forklake.store import access_grants as store
from forklake.store.access_grants import PrefixGrant
from forklake.store.audit import Deed, Outcome, audit_insert
from forklake.store.operations import Insert


@dataclass(frozen=True, eq=False)
class PrefixGrants:
    """Roles granted on prefixes of catalog names."""

    _context: AccessContext
    _authorization: Authorization
    _principals: Principals

    def list(self, caller: Caller, principal: str) -> Sequence[PrefixGrant]:
        """Return the roles of a principal on prefixes."""
        self._authorization.require(caller, "grants.own_prefixes", principal=principal)
        number = self._principals.find(principal).principal_id
        with self._context.here.required().reading() as connection:
            return store.prefix_grants(connection, number, self._context.now())

    def add(
        self,
        caller: Caller,
        prefix: str,
        principal: str,
        role: str,
        expires_at: datetime | None = None,
    ) -> None:
        """Grant a role on all existing and future catalogs whose names begin with a prefix."""
        self._authorization.require(caller, "grants.prefix")
        grant = PrefixGrant(checked_prefix(prefix), role_named(role))
        number = self._principals.find(principal).principal_id
        moment = checked_expiry(expires_at, self._context.now())
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: {role} to {principal}"))
        store.write_prefix_grant(self._context.here.required(), number, grant, moment, [done])

    def revoke(self, caller: Caller, prefix: str, principal: str) -> None:
        """Revoke the role of a principal on a prefix."""
        self._authorization.require(caller, "grants.prefix")
        number = self._principals.find(principal).principal_id
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: nothing to {principal}"))
        store.delete_prefix_grant(
            self._context.here.required(), number, checked_prefix(prefix), [done]
        )

    def _done(self, caller: Caller, deed: Deed) -> Insert:
        return audit_insert(self._context.actor(caller), [deed], Outcome.DONE)
