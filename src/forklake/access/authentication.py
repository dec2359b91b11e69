"""Authentication: the principals of keys and tokens."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from forklake.access.callers import LOCAL, Bound, Caller, as_caller
from forklake.access.context import AccessContext
from forklake.access.credentials import SignedClaim, is_same, read_key, read_token, refused
from forklake.access.signing_keys import SigningKeys
from forklake.store import access_keys
from forklake.store.access import principals_of
from forklake.store.audit import Deed, Outcome


@dataclass(frozen=True, eq=False)
class Authentication:
    """Identification of callers by their credentials."""

    _context: AccessContext
    _signing_keys: SigningKeys

    def identify(self, credential: str, address: str = "") -> Caller:
        """Return the caller that a key or token belongs to.

        A credential that was valid once is written to the audit, with `address` as its origin.

        Raises:
            Unauthenticated: the credential is not valid.
        """
        digest = hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()
        known: Caller | None = self._context.cache.find(digest)
        if known is None or (known.bound and known.bound.expires_at <= self._context.now()):
            known = self._identified(credential, address)
            self._context.cache.keep(digest, known)
        return known

    def require_valid(self, caller: Caller) -> None:
        """Raise Unauthenticated if the credential of an earlier caller is not valid any more: its
        token has expired, or the principal is disabled."""
        if caller.bound is not None and caller.bound.expires_at <= self._context.now():
            raise refused()
        if caller != LOCAL and self._is_disabled(caller.principal_id):
            raise refused()

    def _is_disabled(self, principal_id: int) -> bool:
        known: bool | None = self._context.cache.find(("disabled", principal_id))
        if known is None:
            with self._context.home.database.reading() as connection:
                found = next(iter(principals_of(connection, [principal_id])), None)
            known = found is None or found.is_disabled
            self._context.cache.keep(("disabled", principal_id), known)
        return known

    def _identified(self, credential: str, address: str) -> Caller:
        if not self._context.home.is_there():
            raise refused()
        key = read_key(credential)
        if key is not None:
            return self._by_key(*key, address)
        token = read_token(credential)
        if token is not None:
            return self._by_token(token, address)
        raise refused()

    def _by_key(self, key_id: str, secret_hash: str, address: str) -> Caller:
        with self._context.home.database.reading() as connection:
            found = access_keys.find_key(connection, key_id)
        if found is None or not is_same(found.secret_hash, secret_hash):
            raise refused()
        caller = as_caller(found.principal)
        if found.is_revoked or found.principal.is_disabled:
            self._context.record(caller, Deed("key.use", _from(key_id, address)), Outcome.DENIED)
            raise refused()
        return caller

    def _by_token(self, token: SignedClaim, address: str) -> Caller:
        claim, now = token.claim, self._context.now().timestamp()
        secret = self._signing_keys.secrets().get(claim.kid)
        if secret is None or not token.is_signed_with(secret):
            raise refused()
        with self._context.home.database.reading() as connection:
            found = next(iter(principals_of(connection, [claim.principal_id])), None)
        if found is None:
            raise refused()
        if not claim.is_current(now) or found.is_disabled:
            used = _from(str(claim.catalog_id), address)
            deed = Deed("token.use", used, claim.catalog_id)
            self._context.record(as_caller(found), deed, Outcome.DENIED)
            raise refused()
        expires_at = datetime.fromtimestamp(claim.expires_at, UTC)
        return as_caller(found, Bound(claim.catalog_id, claim.rights, expires_at))


def _from(credential: str, address: str) -> str:
    """Return the text of a credential and its origin in the audit."""
    return f"{credential} from {address}" if address else credential
