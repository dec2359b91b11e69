"""Signing keys as the metastore keeps them: wrapped by the key-encryption key where there is one.

A row holds two words. The first is the secret with which services sign and verify tokens: wrapped,
or hexadecimal where `FORKLAKE_KEY_FILE` is not set. The second is the secret with which PostgreSQL
verifies tokens of tenants.
"""

from __future__ import annotations

from forklake.access.credentials import tenant_secret
from forklake.errors import ForklakeError, Unavailable
from forklake.files import keys


def stored_secret(secret: str) -> str:
    """Return what the metastore keeps of a secret."""
    kek = keys.load_key_encryption_key()
    kept = secret if kek is None else keys.wrap(bytes.fromhex(secret), kek)
    return f"{kept} {tenant_secret(secret)}"


def read_secret(stored: str) -> str:
    """Return the secret of a row.

    Raises Unavailable if it is wrapped and the key-encryption key is not at hand.
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
    """Return whether a row is not as it would be stored now: plain, or of an older version."""
    kept, _, for_tenants = stored.partition(" ")
    is_plain = not keys.is_wrapped(kept) and keys.load_key_encryption_key() is not None
    return bool(kept) and (is_plain or not for_tenants)
