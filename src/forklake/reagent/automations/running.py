"""Runners: they find out what is due, claim firings and run them, beside any number of others.

Of all runners one claims a firing. If it dies, its lease runs out and another one takes over;
whether the first one's commit went through is told by the firing's key, which it carries. So a
firing counts once, however often it is tried.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from forklake.catalog.metastore import Metastore
from forklake.errors import ForklakeError, NotFound
from forklake.model.ids import SnapshotId
from forklake.reagent.automations.leasing import Lease
from forklake.reagent.automations.planning import Clock, catalog_of, plan
from forklake.reagent.automations.work import Perform, Work
from forklake.store.automations import Automation, are_installed, automation_of, database_time
from forklake.store.firings import (
    Firing,
    State,
    claim,
    claimable,
    end,
    lock_automation,
    snapshot_of_key,
    unfinished,
)
from forklake.store.phases import reached

_logger = logging.getLogger("forklake.automations")
_LEASE = timedelta(seconds=60)
_MOST_TRIES = 5  # a firing that takes its runner down with it must not do so for ever
_MESSAGE_LENGTH = 2000
Claimed = tuple[Automation, Firing]


class Runner:
    """Runs what is due. Many may do so at once, in any number of threads, processes, machines.

    Args:
        perform: runs the workbook of a firing.
        lease: for how long a firing is held without a sign of life.
        clock: tells the time, the same for all runners.
        told: hears of each firing that was run.
    """

    def __init__(
        self,
        metastore: Metastore,
        perform: Perform,
        *,
        lease: timedelta = _LEASE,
        clock: Clock = database_time,
        told: Callable[[Automation, Firing], None] | None = None,
    ) -> None:
        self._metastore = metastore
        self._database = metastore.database
        self._perform = perform
        self._lease = lease
        self._clock = clock
        self._told = told
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"

    # Once

    def run_due(self) -> list[Claimed]:
        """Run all that is due now, and what becomes due meanwhile; what became of each."""
        return list(self._run_due(threading.Event()))

    def _run_due(self, stop: threading.Event) -> Iterator[Claimed]:
        while not stop.is_set() and (claimed := self._next()):
            automation, firing = claimed
            yield automation, self.run(automation, firing)

    def _next(self) -> Claimed | None:
        if not are_installed(self._database):
            return None
        plan(self._metastore, self._clock)
        return self.claim()

    def claim(self) -> Claimed | None:
        """Take a firing that nobody runs, if there is one."""
        with self._database.reading() as connection:
            waiting = claimable(connection, self._clock(connection))
        return next(filter(None, map(self._claim, waiting)), None)

    def _claim(self, automation_id: int) -> Claimed | None:
        with self._database.writing() as connection:
            if not lock_automation(connection, automation_id):
                return None
            now = self._clock(connection)
            automation = automation_of(connection, automation_id)
            found = unfinished(connection, automation_id)
            if not automation or not found or any(_is_held(one, now) for one in found):
                return None
            first = found[0]
            if first.tries >= _MOST_TRIES:
                message = f"{first.tries} runners ended before it was done."
                end(connection, first, State.FAILED, now, message=message)
                connection.commit()
                return None
            claim(connection, first, self.owner, now, now + self._lease)
            connection.commit()
        reached("firing.claimed")
        return automation, replace(
            first, state=State.RUNNING, owner=self.owner, tries=first.tries + 1, started_at=now
        )

    def run(self, automation: Automation, firing: Firing) -> Firing:
        """Run a firing that was claimed, and note what became of it."""
        with Lease(self._database, firing, self._lease, self._clock) as lease:
            ended = self._outcome(automation, firing, lease)
        reached("firing.ran")
        ended = self._note(ended)
        reached("firing.ended")
        if self._told is not None:
            self._told(automation, ended)
        return ended

    def _outcome(self, automation: Automation, firing: Firing, lease: Lease) -> Firing:
        try:
            snapshot = self._applied(automation, firing) or self._performed(
                automation, firing, lease
            )
            return replace(firing, state=State.SUCCEEDED, result_snapshot=snapshot)
        except ForklakeError as error:
            failed = replace(firing, state=State.FAILED, message=str(error)[:_MESSAGE_LENGTH])
        except Exception as error:
            _logger.exception("automation %s failed", automation.name)
            said = f"{type(error).__name__}: {error}"
            failed = replace(firing, state=State.FAILED, message=said[:_MESSAGE_LENGTH])
        # It may have failed because of an earlier try, which went on after it was given up.
        snapshot = self._applied(automation, firing)
        if snapshot is None:
            return failed
        return replace(firing, state=State.SUCCEEDED, result_snapshot=snapshot)

    def _applied(self, automation: Automation, firing: Firing) -> SnapshotId | None:
        """What an earlier try has committed, if its runner ended only after that."""
        if firing.tries == 1:
            return None
        with self._database.reading() as connection:
            return snapshot_of_key(connection, automation.catalog_id, firing.key)

    def _performed(self, automation: Automation, firing: Firing, lease: Lease) -> SnapshotId | None:
        catalog = catalog_of(self._metastore, automation.catalog_id)
        if catalog is None:
            raise NotFound(
                f"The catalog of automation '{automation.name}' is gone.",
                remedy="Remove the automation, or add it anew for another catalog.",
            )
        return self._perform(Work(automation, firing, catalog.name, lease.check))

    def _note(self, firing: Firing) -> Firing:
        with self._database.writing() as connection:
            now = self._clock(connection)
            is_ours = end(
                connection,
                firing,
                firing.state,
                now,
                result_snapshot=firing.result_snapshot,
                message=firing.message,
            )
            connection.commit()
        if is_ours:
            return replace(firing, ended_at=now)
        return replace(firing, state=State.RUNNING, message="Another runner has taken it over.")

    # For long

    def run_until(self, stop: threading.Event, *, pause: float = 1.0) -> None:
        """Run what is due until told to stop, with pauses when nothing is; after the firing under
        way."""
        while not stop.is_set():
            try:
                for automation, firing in self._run_due(stop):
                    _logger.info("%s, %s: %s", automation.name, firing.occasion, firing.state)
            except ForklakeError as error:  # the metastore may be back the next time
                _logger.warning("automations cannot be run now: %s", error)
            stop.wait(pause)


def _is_held(firing: Firing, now: datetime) -> bool:
    return firing.leased_until is not None and firing.leased_until > now
