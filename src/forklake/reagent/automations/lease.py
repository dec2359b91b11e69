"""Leases of firings: a background thread renews the lease while a firing runs."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from types import TracebackType

from forklake.errors import Cancelled, ForklakeError
from forklake.reagent.automations.due_firings import Clock
from forklake.store.database import Database
from forklake.store.firings import Firing, renew

_RENEWALS = 3  # per duration of a lease: two renewals may fail


class Lease:
    """Claim of a firing, held for the duration of this context or until it is lost.

    It is lost when another runner has taken over the firing, or could have done so.
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
        """Whether another runner may run the firing."""
        age = time.monotonic() - self._renewed
        return self._is_taken or age >= self._lasts.total_seconds()

    def check(self) -> None:
        """Raise Cancelled if the lease is lost."""
        if self.is_lost:
            raise Cancelled(
                f"The firing '{self._firing.occasion}' was taken over by another runner.",
                remedy="See its state: forklake automations history.",
            )

    def renew(self) -> None:
        """Renew the lease for its whole duration from now on."""
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
            except ForklakeError:  # the metastore may be unavailable for a moment: try again
                continue
