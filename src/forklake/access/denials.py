"""Limit on the number of audit entries for denied and failed operations.

A caller without any right can still be refused a thousand times a second. Beyond a burst, denials
are counted by principal and operation, and written as one entry with their number.
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

# Entries of one principal that are written individually: burst, and then per minute.
BURST = 300
PER_MINUTE = 60
_MOST_COUNTED = 10_000
# Unknown principal names that one caller may use per hour.
GUESSES_PER_HOUR = 20


class Refused(NamedTuple):
    """A denied or failed operation of a principal, without its object."""

    principal_id: int
    principal: str
    operation: str
    outcome: Outcome


class Denials:
    """Counted audit entries of one metastore that are not written yet. Safe to share."""

    def __init__(self) -> None:
        self._limit = RateLimit(PER_MINUTE, burst=BURST)
        self._guard = threading.Lock()
        self._counts: Counter[Refused] = Counter()

    def is_to_write(self, refused: Refused) -> bool:
        """Return whether to write an entry now; otherwise count it."""
        if not self._limit.spend(refused.principal_id):
            return True
        with self._guard:
            if len(self._counts) >= _MOST_COUNTED and refused not in self._counts:
                refused = refused._replace(principal_id=0, principal="", operation="audit.others")
            self._counts[refused] += 1
        return False

    def take(self) -> Iterator[tuple[Refused, int]]:
        """Yield the entries counted since the last call, and reset the counts."""
        with self._guard:
            counts, self._counts = self._counts, Counter()
        yield from counts.items()


_denials: WeakKeyDictionary[Database, Denials] = WeakKeyDictionary()
_guesses: WeakKeyDictionary[Database, RateLimit] = WeakKeyDictionary()
_guard = threading.Lock()


def denials_of(database: Database) -> Denials:
    """Return the denials shared by all access rules of a database."""
    with _guard:
        return _denials.setdefault(database, Denials())


def guesses_of(home: Database) -> RateLimit:
    """Return the limit on unknown principal names shared by all access rules with this home."""
    with _guard:
        return _guesses.setdefault(home, RateLimit(GUESSES_PER_HOUR / 60, burst=GUESSES_PER_HOUR))
