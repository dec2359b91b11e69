"""Short-lived cache of callers and signing keys, so that not every request queries the database.

All access rules with the same home share it: a revocation by one of them is seen by all.
"""

from __future__ import annotations

import threading
import time
from typing import Any
from weakref import WeakKeyDictionary

from forklake.store.database import Database

# Maximum age of cached results: so long may another process's revoked key stay usable here.
FRESH_SECONDS = 2.0
_MOST_REMEMBERED = 10_000


class Memory:
    """Cache with a fixed time to live. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[Any, tuple[Any, float]] = {}

    def find(self, key: Any) -> Any:
        """Return the cached value of a key; None if there is none or it has expired."""
        with self._guard:
            found, until = self._known.get(key, (None, 0.0))
        return found if time.monotonic() <= until else None

    def keep(self, key: Any, found: Any) -> None:
        """Cache a value for FRESH_SECONDS."""
        with self._guard:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = (found, time.monotonic() + FRESH_SECONDS)

    def clear(self) -> None:
        """Remove all entries."""
        with self._guard:
            self._known.clear()


_memories: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()
_guard = threading.Lock()


def memory_of(home: Database) -> Memory:
    """Return the cache shared by all access rules with this home."""
    with _guard:
        return _memories.setdefault(home, Memory())
