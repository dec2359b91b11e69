"""A worktask while it runs: until when it may, and how it is made to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from forklake.errors import Cancelled
from forklake.reagent.places import Worker


class Attempt:
    """All tries of a worktask. One thread tries; another one looks after it."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.reason: Cancelled | None = None  # why it is to end
        self._seconds = seconds
        self._clock = clock
        self._began = clock()
        self._worker: Worker | None = None
        self._is_stopped = threading.Event()

    @contextmanager
    def using(self, worker: Worker) -> Iterator[None]:
        """A try with a session, which is stopped with the worktask."""
        self._worker = worker
        try:
            self.proceed()
            yield
        finally:
            self._worker = None

    def sleep(self, seconds: float) -> None:
        """Wait for the next try, unless there is to be none."""
        self._is_stopped.wait(seconds)
        self.proceed()

    def proceed(self) -> None:
        """Fail if it is to end."""
        if self.reason is not None:
            raise self.reason

    def stop(self, reason: Cancelled) -> None:
        """Make it end; the first reason counts."""
        self.reason = self.reason or reason
        self._is_stopped.set()

    def press(self, name: str) -> None:
        """Stop it if its time is over; again, if it was to stop before.

        What is stopped may go on with something else that then has to be stopped too.
        """
        if self._seconds is not None and self._clock() - self._began > self._seconds:
            self.stop(
                Cancelled(
                    f"Task '{name}' took longer than {self._seconds:g} seconds.",
                    remedy="Give it more time with timeout_seconds, or less to do.",
                )
            )
        worker = self._worker
        if self.reason is not None and worker is not None:
            worker.stop(self.reason)
