"""Limit on the audit entries of what was denied or failed.

A caller that may do nothing can still be refused a thousand times a second. Beyond a burst, entries
are counted by principal and operation, and written as one entry that says how many there were.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from forklake.access.rate_limits import RateLimit
from forklake.store.audit import Outcome
from forklake.store.database import Database

# Entries of one principal that are written one by one: at once, and a minute from then on.
BURST = 300
PER_MINUTE = 60
_MOST_COUNTED = 10_000
# Names of principals that do not exist which one caller may give.
GUESSES_PER_HOUR = 20


class Refused(NamedTuple):
    """What a principal was refused, without the object."""

    principal_id: int
    principal: str
    operation: str
    outcome: Outcome


class Denials:
    """Entries of one metastore that were counted and not written yet. Safe to share."""

    def __init__(self) -> None:
        self._limit = RateLimit(PER_MINUTE, burst=BURST)
        self._guard = threading.Lock()
        self._counts: Counter[Refused] = Counter()

    def is_to_write(self, refused: Refused) -> bool:
        """Return whether an entry is to be written; it is counted otherwise."""
        if not self._limit.spend(refused.principal_id):
            return True
        with self._guard:
            if len(self._counts) >= _MOST_COUNTED and refused not in self._counts:
                refused = refused._replace(principal_id=0, principal="", operation="audit.others")
            self._counts[refused] += 1
        return False

    def take(self) -> Iterator[tuple[Refused, int]]:
        """Yield what was counted since the last time, and forget it."""
        with self._guard:
            counts, self._counts = self._counts, Counter()
        yield from counts.items()


_denials: WeakKeyDictionary[Database, Denials] = WeakKeyDictionary()
_guesses: WeakKeyDictionary[Database, RateLimit] = WeakKeyDictionary()
_guard = threading.Lock()


def denials_of(database: Database) -> Denials:
    """Return the denials that all rules over a database share."""
    with _guard:
        return _denials.setdefault(database, Denials())


def guesses_of(home: Database) -> RateLimit:
    """Return the limit on unknown names of principals that all rules with a home share."""
    with _guard:
        return _guesses.setdefault(home, RateLimit(GUESSES_PER_HOUR / 60, burst=GUESSES_PER_HOUR))
