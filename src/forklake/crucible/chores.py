"""Periodic background tasks of the service."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from forklake.crucible.logs import log_event
from forklake.errors import ForklakeError

Chore = Callable[[], object]


class Chores:
    """Functions that one thread calls in turn, at an interval, until closed.

    Several service processes may run the same chore concurrently. A chore that fails is called
    again at the next interval.
    """

    def __init__(self, seconds: float, chores: Sequence[Chore]) -> None:
        self._seconds = seconds
        self._chores = chores
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chores", daemon=True)

    def start(self) -> None:
        """Start the thread. The first calls happen after one interval."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread, waiting for the chore that is running."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            self.run_all()

    def run_all(self) -> None:
        """Run all chores once."""
        for chore in self._chores:
            try:
                chore()
            except ForklakeError as error:
                log_event("chore failed", level=logging.WARNING, error=str(error))
            except Exception:  # noqa: BLE001 - a failing chore must not stop the others
                log_event("chore failed", level=logging.ERROR, failed=True)
