"""Rate limits by key, in bounded memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_KEYS = 10_000


class RateLimit:
    """Token bucket per key: a burst at once, then `per_minute` events. Safe to share.

    Beyond `most_keys` the least recently counted keys are evicted.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        burst: float | None = None,
        most_keys: int = MOST_KEYS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_minute / 60
        self._burst = per_minute if burst is None else burst
        self._most_keys = most_keys
        self._clock = clock
        self._guard = threading.Lock()
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, key: Hashable) -> float:
        """Return the seconds until one more event of a key is allowed."""
        with self._guard:
            return self._wait(key)

    def spend(self, key: Hashable) -> float:
        """Count an event; return the seconds by which it came too early, 0 if it was allowed."""
        with self._guard:
            wait = self._wait(key)
            if not wait:
                self._left[key] = (self._allowed(key) - 1, self._clock())
                self._left.move_to_end(key)
                while len(self._left) > self._most_keys:
                    self._left.popitem(last=False)
            return wait

    def _wait(self, key: Hashable) -> float:
        return max(0.0, (1 - self._allowed(key)) / self._rate)

    def _allowed(self, key: Hashable) -> float:
        left, since = self._left.get(key, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - since) * self._rate)
