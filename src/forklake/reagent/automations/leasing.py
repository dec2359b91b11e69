"""Holding a firing while it runs: a thread that renews the lease, and the word that it is lost."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from types import TracebackType

from forklake.errors import Cancelled, ForklakeError
from forklake.reagent.automations.planning import Clock
from forklake.store.database import Database
from forklake.store.firings import Firing, renew

_RENEWALS = 3  # in the time that a lease lasts: two may fail


class Lease:
    """A claimed firing that stays claimed for as long as this context lasts, or until it is lost.

    It is lost when another runner has taken the firing over, or could have.
    """

    def __init__(self, database: Database, firing: Firing, lasts: timedelta, clock: Clock) -> None:
        self._database = database
        self._firing = firing
        self._lasts = lasts
        self._clock = clock
        self._renewed = time.monotonic()
        self._is_taken = False
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="forklake-lease", daemon=True)

    def __enter__(self) -> Lease:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def is_lost(self) -> bool:
        """Whether another one may run the firing."""
        age = time.monotonic() - self._renewed
        return self._is_taken or age >= self._lasts.total_seconds()

    def check(self) -> None:
        """Fail if it is lost."""
        if self.is_lost:
            raise Cancelled(
                f"The firing '{self._firing.occasion}' was taken over by another runner.",
                remedy="See what became of it with: forklake automations history.",
            )

    def renew(self) -> None:
        """Hold it from now on for the whole time again."""
        began = time.monotonic()
        with self._database.writing() as connection:
            until = self._clock(connection) + self._lasts
            self._is_taken = not renew(connection, self._firing, until)
            connection.commit()
        self._renewed = began

    def _run(self) -> None:
        pause = self._lasts.total_seconds() / _RENEWALS
        while not self._is_over.wait(pause) and not self._is_taken:
            try:
                self.renew()
            except ForklakeError:  # nobody can be reached: the next try tells
                continue
