"""Keys of advisory locks, which all users of a PostgreSQL database share.

They are derived from a secret of the metastore, so that other programs and other metastores in the
database neither collide with them by accident nor can compute them. A metastore that was created
before there was a secret keeps the keys derived from the name of its schema: processes of older and
newer versions must exclude each other.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import lru_cache

from forklake.store.database import Lock

SECRET = (
    "SELECT value FROM ducklake_metadata"
    " WHERE catalog_id IS NULL AND scope = 'locks' AND key = 'secret'"
)


_REMEMBERED = 1024


class AdvisoryKeys:
    """Keys of the locks of one metastore: `key(lock, number)` returns a signed 64-bit integer."""

    def __init__(self, schema: str) -> None:
        self._space = zlib.crc32(schema.encode()) & 0x7FFF
        self._secret = b""
        self.key = lru_cache(_REMEMBERED)(self._key)  # each commit takes the same ones

    @property
    def creation(self) -> int:
        """Key of the lock for creating the metastore, which has no secret yet."""
        return self._space

    def use(self, secret: str) -> None:
        """Derive keys from the secret of the metastore."""
        self._secret = secret.encode()
        self.key.cache_clear()

    def _key(self, lock: Lock, number: int) -> int:
        if not self._secret:
            return (self._space << 48) + (lock.value << 44) + number - 2**63
        text = f"{lock.value}:{number}".encode()
        digest = hashlib.blake2b(text, digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, signed=True)
