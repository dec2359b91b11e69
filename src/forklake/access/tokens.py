"""Tokens: signed credentials with a part of the rights of a caller on one catalog."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from forklake.access.audit import AuditLog
from forklake.access.authorization import Authorization
from forklake.access.callers import LOCAL, Caller
from forklake.access.context import AccessContext
from forklake.access.credentials import LONGEST_TOKEN
from forklake.access.roles import Right
from forklake.access.signing_keys import SigningKeys
from forklake.errors import InvalidInput
from forklake.store.audit import Deed


@dataclass(frozen=True, eq=False)
class Tokens:
    """Creation of tokens."""

    _context: AccessContext
    _authorization: Authorization
    _audit: AuditLog
    _signing_keys: SigningKeys

    def create(self, caller: Caller, catalog: str, rights: Collection[Right], seconds: int) -> str:
        """Create a token with some of the rights of the caller on a catalog, valid for `seconds`.

        It never allows more than its principal may do at the time of its use.
        """
        found = self._authorization.catalog(caller, catalog, "token.mint")
        if caller.principal_id == LOCAL.principal_id:
            raise InvalidInput(
                "A token belongs to a principal, but this request has no principal.",
                remedy="Authenticate with an API key.",
            )
        wanted, own = frozenset(rights), self._authorization.rights(caller, [catalog])[catalog]
        if Right.READ not in wanted:
            raise InvalidInput(
                "A token needs the right READ.", remedy="Add read to the rights of the token."
            )
        if not wanted <= own:
            raise self._authorization.forbidden(
                caller,
                Deed("token.mint", catalog, found.catalog_id),
                f"the rights {', '.join(sorted(right.name for right in wanted - own))}",
            )
        with self._audit.recording(caller, "token.mint", catalog, catalog=found):
            return self._signing_keys.sign(
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
        moment = self._context.now() + timedelta(seconds=seconds)
        if caller.bound is not None:
            moment = min(moment, caller.bound.expires_at)
        return int(moment.timestamp())
