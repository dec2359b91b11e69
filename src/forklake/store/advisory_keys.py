"""Keys of advisory locks, which all users of a PostgreSQL database share.

They follow from a secret of the metastore, so that other programs and other metastores of the
database neither meet them by accident nor compute them. A metastore that was created before there
was a secret keeps the keys that follow from the name of its schema: processes of both versions
exclude each other.
"""

from __future__ import annotations

import hashlib
import zlib

from forklake.store.database import Lock

SECRET = (
    "SELECT value FROM ducklake_metadata"
    " WHERE catalog_id IS NULL AND scope = 'locks' AND key = 'secret'"
)


class AdvisoryKeys:
    """Keys of the locks of one metastore."""

    def __init__(self, schema: str) -> None:
        self._space = zlib.crc32(schema.encode()) & 0x7FFF
        self._secret = b""

    @property
    def creation(self) -> int:
        """Key that is taken to create the metastore, before it has a secret."""
        return self._space

    def use(self, secret: str) -> None:
        """Derive keys from the secret of the metastore."""
        self._secret = secret.encode()

    def key(self, lock: Lock, number: int) -> int:
        """Return the key of a lock: 64 bits with a sign."""
        if not self._secret:
            return (self._space << 48) + (lock.value << 44) + number - 2**63
        text = f"{lock.value}:{number}".encode()
        digest = hashlib.blake2b(text, digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, signed=True)
