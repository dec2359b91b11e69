"""Grants of roles on catalogs and prefixes, and tokens with a part of the rights of a caller."""

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
    """A role of a principal on one catalog."""

    principal: str
    role: Role
    expires_at: datetime | None


class Granting(Directory):
    """Management of grants and creation of tokens."""

    @cached_property
    def _guesses(self) -> RateLimit:
        """Number of unknown principal names by the caller that used them."""
        return guesses_of(self._home.database)

    def grants(self, caller: Caller, catalog: str) -> list[Grant]:
        """Return the roles granted on a catalog itself, without those granted on prefixes."""
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
        """Grant a principal a role on a catalog, in place of its current role."""
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
        """Revoke the role of a principal on a catalog. Roles on prefixes are not affected."""
        no_role = NotFound(
            f"The principal '{principal}' has no role on the catalog '{catalog}'.",
            remedy="List the grants of the catalog to see who has a role.",
        )
        found = self.catalog(caller, catalog, "grants.set")
        try:
            number = self.principal(principal).principal_id
        except NotFound:
            # Admins of a catalog must not learn whether a principal of this name exists.
            raise no_role from None
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
        """Return the catalog, the principal, and its role on the catalog.

        Admins of catalogs must not be able to find out names of principals: unknown names are
        limited, and beyond the limit the answer is the same whether or not a name exists.
        """
        found = self.catalog(caller, catalog, "grants.set")
        if caller.is_free:
            person = self.principal(principal)
            return found, person, self._role_of(found, person.principal_id)
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
        """Raise Forbidden if the roles include admin or owner and the caller is not an owner."""
        if HIGH_ROLES & set(roles):
            self.catalog(caller, catalog.name, "grants.own")

    # Prefixes

    def prefixes(self, caller: Caller, principal: str) -> list[PrefixGrant]:
        """Return the roles of a principal on prefixes."""
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
        """Grant a role on all existing and future catalogs whose names begin with a prefix."""
        self.require(caller, "grants.prefix")
        grant = PrefixGrant(checked_prefix(prefix), role_named(role))
        number = self.principal(principal).principal_id
        moment = _checked_expiry(expires_at, self._now())
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: {role} to {principal}"))
        store.write_prefix_grant(self._here.required(), number, grant, moment, [done])

    def revoke_prefix(self, caller: Caller, prefix: str, principal: str) -> None:
        """Revoke the role of a principal on a prefix."""
        self.require(caller, "grants.prefix")
        number = self.principal(principal).principal_id
        done = self._done(caller, Deed("grants.prefix", f"{prefix}: nothing to {principal}"))
        store.delete_prefix_grant(self._here.required(), number, checked_prefix(prefix), [done])

    def _done(self, caller: Caller, deed: Deed) -> Insert:
        return audit_insert(self._actor(caller), [deed], Outcome.DONE)

    # Tokens

    def mint(self, caller: Caller, catalog: str, rights: Collection[Right], seconds: int) -> str:
        """Create a token with some of the rights of the caller on a catalog, valid for `seconds`.

        It never allows more than its principal may do at the time of its use.
        """
        found = self.catalog(caller, catalog, "token.mint")
        if caller.principal_id == LOCAL.principal_id:
            raise InvalidInput(
                "A token belongs to a principal, but this request has no principal.",
                remedy="Authenticate with an API key.",
            )
        wanted, own = frozenset(rights), self.rights(caller, [catalog])[catalog]
        if Right.READ not in wanted:
            raise InvalidInput(
                "A token needs the right READ.", remedy="Add read to the rights of the token."
            )
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
        """Return when a token expires: no later than the token that the caller came with."""
        if not 1 <= seconds <= LONGEST_TOKEN.total_seconds():
            raise InvalidInput(
                f"A token cannot be valid for {seconds} seconds.",
                remedy=f"Use 1 to {LONGEST_TOKEN.total_seconds():.0f} seconds.",
            )
        moment = self._now() + timedelta(seconds=seconds)
        if caller.bound is not None:
            moment = min(moment, caller.bound.expires_at)
        return int(moment.timestamp())


def _too_many_guesses(wait: float) -> RateLimited:
    return RateLimited(
        "Too many grants named principals that do not exist.",
        remedy="Check the names, and try again later.",
        retry_after=max(1, math.ceil(wait)),
    )


def _checked_expiry(moment: datetime | None, now: datetime) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InvalidInput(f"The time {moment} has no time zone.", remedy="Add a time zone.")
    if moment <= now:
        raise InvalidInput(f"The time {moment} is in the past.", remedy="Use a later time.")
    return moment.astimezone(UTC)
