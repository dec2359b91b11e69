"""Chores: what the service does by itself, every now and then, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from forklake.crucible.logs import note
from forklake.errors import ForklakeError

Chore = Callable[[], object]


class Chores:
    """Some functions, called one after another at an interval until it is closed.

    Each may run in many services at once. One that fails is called again the next time.
    """

    def __init__(self, seconds: float, chores: Sequence[Chore]) -> None:
        self._seconds = seconds
        self._chores = chores
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chores", daemon=True)

    def start(self) -> None:
        """Begin with the first interval."""
        self._thread.start()

    def close(self) -> None:
        """End, after the chore under way."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            self.do()

    def do(self) -> None:
        """All chores, once."""
        for chore in self._chores:
            try:
                chore()
            except ForklakeError as error:
                note("chore failed", level=logging.WARNING, error=str(error))
            except Exception:  # noqa: BLE001 - the others get their turn all the same
                note("chore failed", level=logging.ERROR, failed=True)
