"""Grants of roles on catalogs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.denials import guesses_of
from forklake.access.principals import Principals
from forklake.access.roles import HIGH_ROLES, Role, role_named
from forklake.catalog.catalog import Catalog
from forklake.errors import InvalidInput, NotFound, RateLimited
from forklake.store import access_grants as store
from forklake.store.access import Principal, principals_of
from forklake.store.access_grants import GrantRow
from forklake.store.audit import Deed, Outcome, audit_insert


@dataclass(frozen=True, slots=True)
class Grant:
    """A role of a principal on one catalog."""

    principal: str
    role: Role
    expires_at: datetime | None


@dataclass(frozen=True, eq=False)
class Grants:
    """Roles granted on single catalogs."""

    _context: AccessContext
    _authorization: Authorization
    _principals: Principals

    def list(self, caller: Caller, catalog: str) -> Sequence[Grant]:
        """Return the roles granted on a catalog itself, without those granted on prefixes."""
        found = self._authorization.catalog(caller, catalog, "grants.list")
        if not self._context.here.is_there():
            return []
        with self._context.here.database.reading() as connection:
            rows = store.list_grants(connection, found.catalog_id)
        with self._context.home.required().reading() as connection:
            people = principals_of(connection, [row.principal_id for row in rows])
        names = {one.principal_id: one.name for one in people}
        granted = [
            Grant(names[row.principal_id], Role(row.role), row.expires_at)
            for row in rows
            if row.principal_id in names
        ]
        return sorted(granted, key=lambda grant: grant.principal)

    def add(
        self,
        caller: Caller,
        catalog: str,
        principal: str,
        role: str,
        expires_at: datetime | None = None,
    ) -> None:
        """Grant a principal a role on a catalog, in place of its current role."""
        wanted = role_named(role)
        found, person, before = self._grantee(caller, catalog, principal)
        number = person.principal_id
        self._require_rank(caller, found, {wanted, before})
        row = GrantRow(number, wanted, checked_expiry(expires_at, self._context.now()))
        deed = Deed("grants.set", f"{catalog}: {wanted} to {principal}", found.catalog_id)
        store.write_grant(
            self._context.here.required(),
            found.row,
            row,
            [audit_insert(self._context.actor(caller), [deed], Outcome.DONE)],
            is_new_owner=wanted is Role.OWNER is not before,
            ends_owner=before is Role.OWNER
            and (wanted is not Role.OWNER or expires_at is not None),
        )

    def revoke(self, caller: Caller, catalog: str, principal: str) -> None:
        """Revoke the role of a principal on a catalog. Roles on prefixes are not affected."""
        no_role = NotFound(
            f"The principal '{principal}' has no role on the catalog '{catalog}'.",
            remedy="List the grants of the catalog to see who has a role.",
        )
        found = self._authorization.catalog(caller, catalog, "grants.set")
        try:
            number = self._principals.find(principal).principal_id
        except NotFound:
            # Admins of a catalog must not learn whether a principal of this name exists.
            raise no_role from None
        before = self._role_of(found, number)
        if before is None:
            raise no_role
        self._require_rank(caller, found, {before})
        deed = Deed("grants.set", f"{catalog}: nothing to {principal}", found.catalog_id)
        store.delete_grant(
            self._context.here.required(),
            found.row,
            number,
            [audit_insert(self._context.actor(caller), [deed], Outcome.DONE)],
            ends_owner=before is Role.OWNER,
        )

    def tidy(self) -> int:
        """Delete grants on catalogs that ended without their removal; return how many.

        Catalogs that expire or are dropped outside of the access rules leave their grants behind.
        """
        here = self._context.here
        return store.tidy_grants(here.database) if here.is_there() else 0

    def _grantee(
        self, caller: Caller, catalog: str, principal: str
    ) -> tuple[Catalog, Principal, Role | None]:
        """Return the catalog, the principal, and its role on the catalog.

        Admins of catalogs must not be able to find out names of principals: unknown names are
        limited, and beyond the limit the answer is the same whether or not a name exists.
        """
        found = self._authorization.catalog(caller, catalog, "grants.set")
        if caller.is_free:
            person = self._principals.find(principal)
            return found, person, self._role_of(found, person.principal_id)
        deed = Deed("grants.set", f"{catalog}: to {principal}", found.catalog_id)
        guesses = guesses_of(self._context.home.database)
        wait = guesses.wait(caller.principal_id)
        try:
            person = self._principals.find(principal)
            before = self._role_of(found, person.principal_id)
        except NotFound:
            if not wait:
                guesses.spend(caller.principal_id)
                self._context.record(caller, deed, Outcome.DENIED)
                raise
            before = None
        if wait and before is None:
            self._context.record(caller, deed, Outcome.DENIED)
            raise _too_many_guesses(wait)
        return found, person, before

    def _role_of(self, catalog: Catalog, principal_id: int) -> Role | None:
        with self._context.here.required().reading() as connection:
            rows = store.list_grants(connection, catalog.catalog_id)
        return next((Role(row.role) for row in rows if row.principal_id == principal_id), None)

    def _require_rank(
        self, caller: Caller, catalog: Catalog, roles: Collection[Role | None]
    ) -> None:
        """Raise Forbidden if the roles include admin or owner and the caller is not an owner."""
        if HIGH_ROLES & set(roles):
            self._authorization.catalog(caller, catalog.name, "grants.own")


def _too_many_guesses(wait: float) -> RateLimited:
    return RateLimited(
        "Too many grants named principals that do not exist.",
        remedy="Check the names, and try again later.",
        retry_after=max(1, math.ceil(wait)),
    )


def checked_expiry(moment: datetime | None, now: datetime) -> datetime | None:
    """Return the end of a grant in UTC; raise InvalidInput unless it is in the future."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InvalidInput(f"The time {moment} has no time zone.", remedy="Add a time zone.")
    if moment <= now:
        raise InvalidInput(f"The time {moment} is in the past.", remedy="Use a later time.")
    return moment.astimezone(UTC)
