"""Stored form of signing keys: wrapped by the key-encryption key if there is one.

A row holds two words. The first is the secret with which services sign and verify tokens: wrapped,
or hexadecimal if `FORKLAKE_KEY_FILE` is not set. The second is the secret with which PostgreSQL
verifies tokens of tenants.
"""

from __future__ import annotations

from forklake.access.credentials import tenant_secret
from forklake.errors import ForklakeError, Unavailable
from forklake.files import keys


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
