"""Short-lived cache of callers and signing keys, so that not every request queries the database.

All access rules with the same home share it: a revocation by one of them is seen by all.
"""

from __future__ import annotations

import threading
import time
from typing import Any
from weakref import WeakKeyDictionary

from cachetools import TTLCache

from forklake.store.database import Database

# Maximum age of cached results: so long may another process's revoked key stay usable here.
FRESH_SECONDS = 2.0
_MOST_CACHED = 10_000


class AccessCache:
    """Cache with a fixed time to live. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._entries: TTLCache[Any, Any] = TTLCache(_MOST_CACHED, FRESH_SECONDS, _now)

    def find(self, key: Any) -> Any:
        """Return the cached value of a key; None if there is none or it has expired."""
        with self._guard:
            return self._entries.get(key)

    def keep(self, key: Any, found: Any) -> None:
        """Cache a value for FRESH_SECONDS."""
        with self._guard:
            self._entries[key] = found

    def clear(self) -> None:
        """Remove all entries."""
        with self._guard:
            self._entries.clear()


_caches: WeakKeyDictionary[Database, AccessCache] = WeakKeyDictionary()
_guard = threading.Lock()


def cache_of(home: Database) -> AccessCache:
    """Return the cache shared by all access rules with this home."""
    with _guard:
        return _caches.setdefault(home, AccessCache())


def _now() -> float:
    return time.monotonic()  # looked up at each call, so that tests can advance the clock
