"""What a process remembers for a moment, so that not every request asks who stands behind a key.

All rules of one home share it: what one of them revokes is revoked for all.
"""

from __future__ import annotations

import threading
import time
from typing import Any
from weakref import WeakKeyDictionary

from forklake.store.database import Database

# For so long a process may not know what others changed: new rules, keys that are good no more.
FRESH_SECONDS = 2.0
_MOST_REMEMBERED = 10_000


class Memory:
    """Who was known a moment ago. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[Any, tuple[Any, float]] = {}

    def find(self, key: Any) -> Any:
        """What was remembered a moment ago, or None."""
        with self._guard:
            found, until = self._known.get(key, (None, 0.0))
        return found if time.monotonic() <= until else None

    def keep(self, key: Any, found: Any) -> None:
        """Remember something for a moment."""
        with self._guard:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = (found, time.monotonic() + FRESH_SECONDS)

    def clear(self) -> None:
        """Forget everything."""
        with self._guard:
            self._known.clear()


_memories: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()
_guard = threading.Lock()


def memory_of(home: Database) -> Memory:
    """The memory that all rules with this home share."""
    with _guard:
        return _memories.setdefault(home, Memory())
