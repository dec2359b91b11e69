"""Authentication: the principals of keys and tokens."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from forklake.access.callers import LOCAL, Bound, Caller
from forklake.access.context import Ground
from forklake.access.credentials import (
    Claim,
    SignedClaim,
    is_same,
    new_signing_secret,
    read_key,
    read_token,
    refused,
)
from forklake.access.signing_keys import is_outdated, read_secret, stored_secret
from forklake.store import access_keys
from forklake.store.access import Principal, principals_of
from forklake.store.audit import Deed, Outcome


class Identities(Ground):
    """Authentication of callers, and the keys that sign tokens."""

    def caller(self, credential: str, address: str = "") -> Caller:
        """Return the caller that a key or token belongs to.

        A credential that was valid once is written to the audit, with `address` as its origin.

        Raises:
            Unauthenticated: the credential is not valid.
        """
        digest = hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()
        known: Caller | None = self._memory.find(digest)
        if known is None or (known.bound and known.bound.expires_at <= self._now()):
            known = self._identified(credential, address)
            self._memory.keep(digest, known)
        return known

    def require_good(self, caller: Caller) -> None:
        """Raise Unauthenticated if the credential of an earlier caller is not valid any more: its
        token has expired, or the principal is disabled."""
        if caller.bound is not None and caller.bound.expires_at <= self._now():
            raise refused()
        if caller != LOCAL and self._is_disabled(caller.principal_id):
            raise refused()

    def _is_disabled(self, principal_id: int) -> bool:
        known: bool | None = self._memory.find(("disabled", principal_id))
        if known is None:
            with self._home.database.reading() as connection:
                found = next(iter(principals_of(connection, [principal_id])), None)
            known = found is None or found.is_disabled
            self._memory.keep(("disabled", principal_id), known)
        return known

    def _identified(self, credential: str, address: str) -> Caller:
        if not self._home.is_there():
            raise refused()
        key = read_key(credential)
        if key is not None:
            return self._by_key(*key, address)
        token = read_token(credential)
        if token is not None:
            return self._by_token(token, address)
        raise refused()

    def _by_key(self, key_id: str, secret_hash: str, address: str) -> Caller:
        with self._home.database.reading() as connection:
            found = access_keys.find_key(connection, key_id)
        if found is None or not is_same(found.secret_hash, secret_hash):
            raise refused()
        caller = as_caller(found.principal)
        if found.is_revoked or found.principal.is_disabled:
            self._note(caller, Deed("key.use", _from(key_id, address)), Outcome.DENIED)
            raise refused()
        return caller

    def _by_token(self, token: SignedClaim, address: str) -> Caller:
        claim, now = token.claim, self._now().timestamp()
        secret = self._signing_secrets().get(claim.kid)
        if secret is None or not token.is_signed_with(secret):
            raise refused()
        with self._home.database.reading() as connection:
            found = next(iter(principals_of(connection, [claim.principal_id])), None)
        if found is None:
            raise refused()
        if not claim.is_current(now) or found.is_disabled:
            used = _from(str(claim.catalog_id), address)
            deed = Deed("token.use", used, claim.catalog_id)
            self._note(as_caller(found), deed, Outcome.DENIED)
            raise refused()
        expires_at = datetime.fromtimestamp(claim.expires_at, UTC)
        return as_caller(found, Bound(claim.catalog_id, claim.rights, expires_at))

    def _signing_secrets(self) -> dict[str, str]:
        """Return the valid signing keys by id, newest first."""
        known: dict[str, str] | None = self._memory.find("signing keys")
        if known is None:
            with self._home.database.reading() as connection:
                rows = access_keys.signing_keys(connection)
            known = {kid: read_secret(stored) for kid, stored in rows}
            self._memory.keep("signing keys", known)
        return known

    def check_signing_keys(self) -> None:
        """Raise Unavailable if signing keys are wrapped and cannot be unwrapped."""
        if self._home.is_there():
            self._signing_secrets()

    def _wrap_signing_keys(self) -> None:
        """Wrap signing keys that were stored before the key file was set."""
        with self._home.database.reading() as connection:
            rows = access_keys.signing_keys(connection)
        for kid, stored in rows:
            if is_outdated(stored):
                wrapped = stored_secret(read_secret(stored))
                access_keys.replace_signing_secret(self._home.database, kid, stored, wrapped)

    def init(self) -> None:
        """Create missing tables of access rules, and wrap signing keys that are not wrapped.

        Keys are wrapped if FORKLAKE_KEY_FILE is set.
        """
        super().init()
        self._wrap_signing_keys()

    def _signed(self, claim: dict[str, Any]) -> str:
        """Return a token with this content, signed with the newest key. Create a key if needed."""
        secrets = self._signing_secrets()
        if not secrets:
            stored = stored_secret(new_signing_secret())
            database = self._home.required()
            access_keys.add_signing_key(database, stored, self._now(), only_first=True)
            self._memory.clear()
            secrets = self._signing_secrets()
        kid, secret = next(iter(secrets.items()))
        return Claim(**claim, kid=kid).signed(secret)


def _from(credential: str, address: str) -> str:
    """Return the text of a credential and its origin in the audit."""
    return f"{credential} from {address}" if address else credential


def as_caller(principal: Principal, bound: Bound | None = None) -> Caller:
    """Return an authenticated principal as a caller."""
    return Caller(
        principal.principal_id, principal.name, principal.account, principal.is_root, bound
    )
