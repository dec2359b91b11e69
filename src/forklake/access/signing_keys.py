"""Keys that sign tokens. They are stored wrapped by the key-encryption key if there is one.

A row holds two words. The first is the secret with which services sign and verify tokens: wrapped,
or hexadecimal if `FORKLAKE_KEY_FILE` is not set. The second is the secret with which PostgreSQL
verifies tokens of tenants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forklake.access.audit import AuditLog
from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.credentials import Claim, new_signing_secret, tenant_secret
from forklake.errors import ForklakeError, Unavailable
from forklake.files import keys
from forklake.store import access_keys


@dataclass(frozen=True, eq=False)
class SigningKeys:
    """Signing keys of one home metastore. The newest key signs; the previous one stays valid."""

    _context: AccessContext
    _authorization: Authorization
    _audit: AuditLog

    def secrets(self) -> dict[str, str]:
        """Return the valid signing keys by id, newest first."""
        known: dict[str, str] | None = self._context.cache.find("signing keys")
        if known is None:
            with self._context.home.database.reading() as connection:
                rows = access_keys.signing_keys(connection)
            known = {kid: read_secret(stored) for kid, stored in rows}
            self._context.cache.keep("signing keys", known)
        return known

    def check(self) -> None:
        """Raise Unavailable if signing keys are wrapped and cannot be unwrapped."""
        if self._context.home.is_there():
            self.secrets()

    def rotate(self, caller: Caller) -> None:
        """Sign tokens with a new key. Tokens of the previous key stay valid, older ones do not."""
        self._authorization.require(caller, "signing.rotate")
        with self._audit.recording(caller, "signing.rotate", "metastore"):
            self._add(only_first=False)

    def wrap(self) -> None:
        """Wrap keys that were stored before FORKLAKE_KEY_FILE was set."""
        database = self._context.home.database
        with database.reading() as connection:
            rows = access_keys.signing_keys(connection)
        for kid, stored in rows:
            if is_outdated(stored):
                wrapped = stored_secret(read_secret(stored))
                access_keys.replace_signing_secret(database, kid, stored, wrapped)

    def sign(self, claim: dict[str, Any]) -> str:
        """Return a token with this content, signed with the newest key. Create a key if needed."""
        if not self.secrets():
            self._add(only_first=True)
        kid, secret = next(iter(self.secrets().items()))
        return Claim(**claim, kid=kid).signed(secret)

    def _add(self, *, only_first: bool) -> None:
        stored = stored_secret(new_signing_secret())
        database, now = self._context.home.required(), self._context.now()
        access_keys.add_signing_key(database, stored, now, only_first=only_first)
        self._context.cache.clear()


def stored_secret(secret: str) -> str:
    """Return the text that the metastore stores for a secret."""
    kek = keys.load_key_encryption_key()
    kept = secret if kek is None else keys.wrap(bytes.fromhex(secret), kek)
    return f"{kept} {tenant_secret(secret)}"


def read_secret(stored: str) -> str:
    """Return the secret in a stored text.

    Raises:
        Unavailable: it is wrapped, and the key-encryption key is missing or does not match.
    """
    kept = stored.partition(" ")[0]
    if not keys.is_wrapped(kept):
        return kept
    try:
        return bytes(keys.unwrap(kept, keys.load_key_encryption_key())).hex()
    except ForklakeError as reason:
        raise Unavailable(
            f"The keys that sign tokens cannot be read: {reason.message}", remedy=reason.remedy
        ) from reason


def is_outdated(stored: str) -> bool:
    """Return whether a row should be rewritten: not wrapped, or stored by an older version."""
    kept, _, for_tenants = stored.partition(" ")
    is_plain = not keys.is_wrapped(kept) and keys.load_key_encryption_key() is not None
    return bool(kept) and (is_plain or not for_tenants)
