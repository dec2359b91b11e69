"""API keys of principals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forklake.access.audit import AuditLog
from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.credentials import new_key
from forklake.access.principals import Principals
from forklake.errors import NotFound, QuotaExceeded
from forklake.store import access_keys as store
from forklake.store.access_keys import KeyRow

_MOST_KEYS = 100  # active keys per principal


@dataclass(frozen=True, eq=False)
class Keys:
    """API keys, which authenticate principals."""

    _context: AccessContext
    _authorization: Authorization
    _audit: AuditLog
    _principals: Principals

    def create(self, caller: Caller, name: str) -> tuple[str, str]:
        """Create a key of a principal; return its id and the key, which is not shown again."""
        self._authorization.require(caller, "key.create", principal=name)
        found = self._principals.find_enabled(name)
        with self._context.home.required().reading() as connection:
            known = store.list_keys(connection, found.principal_id)
        if sum(not one.is_revoked for one in known) >= _MOST_KEYS:
            raise QuotaExceeded(
                f"The principal '{name}' has {_MOST_KEYS} active keys, which is the maximum.",
                remedy=f"Revoke keys that are not used: forklake access key revoke {name} ID.",
            )
        key = new_key()
        with self._audit.recording(caller, "key.create", f"{name}/{key.key_id}"):
            database, now = self._context.home.required(), self._context.now()
            store.insert_key(database, key.key_id, found.principal_id, key.secret_hash, now)
        return key.key_id, key.text

    def list(self, caller: Caller, name: str) -> Sequence[KeyRow]:
        """Return the keys of a principal, oldest first."""
        self._authorization.require(caller, "key.list", principal=name)
        found = self._principals.find(name)
        with self._context.home.required().reading() as connection:
            return store.list_keys(connection, found.principal_id)

    def revoke(self, caller: Caller, name: str, key_id: str) -> None:
        """Revoke a key of a principal."""
        self._authorization.require(caller, "key.revoke", principal=name)
        found = self._principals.find(name)
        with self._audit.recording(caller, "key.revoke", f"{name}/{key_id}"):
            is_revoked = key_id.isprintable() and store.revoke_key(
                self._context.home.required(), key_id, found.principal_id, self._context.now()
            )
            self._context.cache.clear()
            if not is_revoked:
                raise NotFound(
                    f"The principal '{name}' has no active key {key_id!r}.",
                    remedy=f"List its keys: forklake access key list {name}.",
                )
