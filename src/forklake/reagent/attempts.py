"""State of a running worktask: its time limit, and requests to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from forklake.errors import Cancelled
from forklake.reagent.places import Worker


class Attempt:
    """All tries of a worktask. One thread runs them, another one watches the time and stops it."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.reason: Cancelled | None = None  # why the worktask has to stop
        self._seconds = seconds
        self._clock = clock
        self._began = clock()
        self._worker: Worker | None = None
        self._is_stopped = threading.Event()

    @contextmanager
    def run_on(self, worker: Worker) -> Iterator[None]:
        """Run one try on a session, which is stopped together with the worktask."""
        self._worker = worker
        try:
            self.proceed()
            yield
        finally:
            self._worker = None

    def sleep(self, seconds: float) -> None:
        """Wait before the next try. Raise if the worktask was stopped."""
        self._is_stopped.wait(seconds)
        self.proceed()

    def proceed(self) -> None:
        """Raise the reason if the worktask was stopped."""
        if self.reason is not None:
            raise self.reason

    def stop(self, reason: Cancelled) -> None:
        """Request the end of the worktask. The first reason is kept."""
        self.reason = self.reason or reason
        self._is_stopped.set()

    def enforce_stop(self, name: str) -> None:
        """Stop the worktask after its time limit, and repeat a stop that was requested before.

        The repetition is needed: after a cancelled statement, the worktask may start another one.
        """
        if self._seconds is not None and self._clock() - self._began > self._seconds:
            self.stop(
                Cancelled(
                    f"Task '{name}' took longer than {self._seconds:g} seconds.",
                    remedy="Raise timeout_seconds, or reduce the work of the task.",
                )
            )
        worker = self._worker
        if self.reason is not None and worker is not None:
            worker.stop(self.reason)
