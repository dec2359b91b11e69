"""Granting: roles on catalogs and on prefixes, and tokens, which narrow what one has oneself."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from forklake.access.callers import LOCAL, Caller
from forklake.access.credentials import LONGEST_TOKEN
from forklake.access.denials import guesses_of
from forklake.access.directory import Directory, checked_prefix
from forklake.access.rate_limits import RateLimit
from forklake.access.roles import HIGH_ROLES, Right, Role, role_named
from forklake.catalog.catalog import Catalog
from forklake.errors import InvalidInput, NotFound, RateLimited
from forklake.store import access_grants as store
from forklake.store.access import Principal, principals_of
from forklake.store.access_grants import GrantRow, PrefixGrant
from forklake.store.audit import Deed, Outcome, audit_insert
from forklake.store.operations import Insert


@dataclass(frozen=True, slots=True)
class Grant:
    """A role of a principal on a catalog."""

    principal: str
    role: Role
    expires_at: datetime | None


class Granting(Directory):
    """Who gives what to whom."""

    @cached_property
    def _guesses(self) -> RateLimit:
        """Names of principals that do not exist, by the caller that named them."""
        return guesses_of(self._home.database)

    def grants(self, caller: Caller, catalog: str) -> list[Grant]:
        """The roles that principals have on a catalog, besides those by prefix."""
        found = self.catalog(caller, catalog, "grants.list")
        if not self._here.is_there():
            return []
        with self._here.database.reading() as connection:
            rows = store.list_grants(connection, found.catalog_id)
        with self._home.required().reading() as connection:
            people = principals_of(connection, [row.principal_id for row in rows])
        names = {one.principal_id: one.name for one in people}
        granted = [
            Grant(names[row.principal_id], Role(row.role), row.expires_at)
            for row in rows
            if row.principal_id in names
        ]
        return sorted(granted, key=lambda grant: grant.principal)

    def grant(
        self,
        caller: Caller,
        catalog: str,
        principal: str,
        role: str,
        expires_at: datetime | None = None,
    ) -> None:
        """Give a principal a role on a catalog, in place of the one it had."""
        wanted = role_named(role)
        found, person, before = self._grantee(caller, catalog, principal)
        number = person.principal_id
        self._require_rank(caller, found, {wanted, before})
        row = GrantRow(number, wanted, _checked_expiry(expires_at, self._now()))
        deed = Deed("grants.set", f"{catalog}: {wanted} to {principal}", found.catalog_id)
        store.write_grant(
            self._here.required(),
            found.row,
            row,
            [self._done(caller, deed)],
            is_new_owner=wanted is Role.OWNER is not before,
            ends_owner=before is Role.OWNER
            and (wanted is not Role.OWNER or expires_at is not None),
        )

    def revoke(self, caller: Caller, catalog: str, principal: str) -> None:
        """Take a principal's role on a catalog away; what it has by prefix stays."""
        no_role = NotFound(
            f"'{principal}' has no role on the catalog '{catalog}'.", remedy="List its grants."
        )
        found = self.catalog(caller, catalog, "grants.set")
        try:
            number = self.principal(principal).principal_id
        except NotFound:
            raise no_role from None  # whether there is such a principal is not for admins
        before = self._role_of(found, number)
        if before is None:
            raise no_role
        self._require_rank(caller, found, {before})
        deed = Deed("grants.set", f"{catalog}: nothing to {principal}", found.catalog_id)
        store.delete_grant(
            self._here.required(),
            found.row,
            number,
            [self._done(caller, deed)],
            ends_owner=before is Role.OWNER,
        )

    def _grantee(
        self, caller: Caller, catalog: str, principal: str
    ) -> tuple[Catalog, Principal, Role | None]:
        """Return the catalog, the principal and the role that it has on it.

        Names of principals are not for admins of catalogs: those that are unknown are limited, and
        beyond the limit a name gets the same answer whether it is known or not.
        """
        found = self.catalog(caller, catalog, "grants.set")
        if caller.is_free:
            person = self.principal(principal)
            return found, person, self._role_of(found, person.principal_id)
        deed = Deed("grants.set", f"{catalog}: to {principal}", found.catalog_id)
        deed = Deed("grants.set", f"{catalog}: to {principal}", found.catalog_id)
        wait = self._guesses.wait(caller.principal_id)
        try:
            person = self.principal(principal)
            before = self._role_of(found, person.principal_id)
        except NotFound:
            if not wait:
                self._guesses.spend(caller.principal_id)
                self._note(caller, deed, Outcome.DENIED)
                raise
            before = None
        if wait and before is None:
            self._note(caller, deed, Outcome.DENIED)
            raise _too_many_guesses(wait)
        return found, person, before

    def _role_of(self, catalog: Catalog, principal_id: int) -> Role | None:
        with self._here.required().reading() as connection:
            rows = store.list_grants(connection, catalog.catalog_id)
        return next((Role(row.role) for row in rows if row.principal_id == principal_id), None)

    def _require_rank(
        self, caller: Caller, catalog: Catalog, roles: Collection[Role | None]
    ) -> None:
        """Owners alone decide about admins and owners."""
        if HIGH_ROLES & set(roles):
            self.catalog(caller, catalog.name, "grants.own")

    # Prefixes

    def prefixes(self, caller: Caller, principal: str) -> list[PrefixGrant]:
        """The roles of a principal on prefixes."""
        self.require(caller, "grants.own_prefixes", principal=principal)
        number = self.principal(principal).principal_id
        with self._here.required().reading() as connection:
            return store.prefix_grants(connection, number, self._now())

    def grant_prefix(
        self,
        caller: Caller,
        prefix: str,
        principal: str,
        role: str,
        expires_at: datetime | None = None,
    ) -> None:
        """Give a principal a role on all catalogs whose names begin so, those to come too."""
        self.require(caller, "grants.prefix")
        grant = PrefixGrant(checked_prefix(prefix), role_named(role))
        number = self.principal(principal).principal_id
        moment = _checked_expiry(expires_at, self._now())
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: {role} to {principal}"))
        store.write_prefix_grant(self._here.required(), number, grant, moment, [done])

    def revoke_prefix(self, caller: Caller, prefix: str, principal: str) -> None:
        """Take a principal's role on a prefix away."""
        self.require(caller, "grants.prefix")
        number = self.principal(principal).principal_id
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: nothing to {principal}"))
        store.delete_prefix_grant(self._here.required(), number, checked_prefix(prefix), [done])

    def _done(self, caller: Caller, deed: Deed) -> Insert:
        return audit_insert(self._actor(caller), [deed], Outcome.DONE)

    # Tokens

    def mint(self, caller: Caller, catalog: str, rights: Collection[Right], seconds: int) -> str:
        """A token for some of one's rights on a catalog, good for so many seconds.

        It is never good for more than its principal may at the moment when it is used.
        """
        found = self.catalog(caller, catalog, "token.mint")
        if caller.principal_id == LOCAL.principal_id:
            raise InvalidInput(
                "A token is that of a principal, and nobody has said who asks.",
                remedy="Show a key.",
            )
        wanted, own = frozenset(rights), self.rights(caller, [catalog])[catalog]
        if Right.READ not in wanted:
            raise InvalidInput("A token without READ is of no use.", remedy="Add read.")
        if not wanted <= own:
            raise self._forbidden(
                caller,
                Deed("token.mint", catalog, found.catalog_id),
                f"the rights {', '.join(sorted(right.name for right in wanted - own))}",
            )
        with self.audited(caller, "token.mint", catalog, catalog=found):
            return self._signed(
                {
                    "principal_id": caller.principal_id,
                    "catalog_id": found.catalog_id,
                    "rights": wanted,
                    "expires_at": self._expiry_of(caller, seconds),
                }
            )

    def _expiry_of(self, caller: Caller, seconds: int) -> int:
        """When a token is over; one that was got for a token is so no later than that."""
        if not 1 <= seconds <= LONGEST_TOKEN.total_seconds():
            raise InvalidInput(
                f"A token cannot be good for {seconds} seconds.",
                remedy=f"Use 1 to {LONGEST_TOKEN.total_seconds():.0f}.",
            )
        moment = self._now() + timedelta(seconds=seconds)
        if caller.bound is not None:
            moment = min(moment, caller.bound.expires_at)
        return int(moment.timestamp())


def _too_many_guesses(wait: float) -> RateLimited:
    return RateLimited(
        "Too many roles were granted to principals that do not exist.",
        remedy="Check the names, and try again later.",
        retry_after=max(1, math.ceil(wait)),
    )


def _checked_expiry(moment: datetime | None, now: datetime) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InvalidInput(f"The moment {moment} has no time zone.", remedy="Add one.")
    if moment <= now:
        raise InvalidInput(f"The moment {moment} has passed.", remedy="Use a later one.")
    return moment.astimezone(UTC)
