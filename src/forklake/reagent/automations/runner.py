"""Runners: they plan due firings, claim them and run them, concurrently with other runners.

A firing is claimed by one runner. If the runner dies, its lease expires and another one takes over.
The commit of a firing carries its key as idempotency key, which shows whether the first runner has
committed: a firing counts once, however often it is tried.
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
from forklake.reagent.automations.due_firings import Clock, find_catalog, plan_firings
from forklake.reagent.automations.lease import Lease
from forklake.reagent.automations.work import FiringHandler, FiringRun
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
_MOST_TRIES = 5  # limits firings that kill their runner each time
_MESSAGE_LENGTH = 2000
ClaimedFiring = tuple[Automation, Firing]


class Runner:
    """Runner of due firings. Many can run at once, in threads, processes and machines.

    Args:
        perform: runs the workbook of a firing.
        lease: how long a firing stays claimed without a renewal.
        clock: returns the time; must be the same for all runners.

    The callback, if any, is called with each firing that ended.
    """

    def __init__(
        self,
        metastore: Metastore,
        perform: FiringHandler,
        *,
        lease: timedelta = _LEASE,
        clock: Clock = database_time,
        on_end: Callable[[Automation, Firing], None] | None = None,
    ) -> None:
        self._metastore = metastore
        self._database = metastore.database
        self._perform = perform
        self._lease = lease
        self._clock = clock
        self._on_end = on_end
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"

    # Once

    def run_due(self) -> list[ClaimedFiring]:
        """Run all firings that are due, also those that become due meanwhile; return them."""
        return list(self._run_due(threading.Event()))

    def _run_due(self, stop: threading.Event) -> Iterator[ClaimedFiring]:
        while not stop.is_set() and (claimed := self._claim_next()):
            automation, firing = claimed
            yield automation, self.run(automation, firing)

    def _claim_next(self) -> ClaimedFiring | None:
        if not are_installed(self._database):
            return None
        plan_firings(self._metastore, self._clock)
        return self.claim()

    def claim(self) -> ClaimedFiring | None:
        """Claim a waiting firing and return it, or None if there is none."""
        with self._database.reading() as connection:
            waiting = claimable(connection, self._clock(connection))
        return next(filter(None, map(self._claim, waiting)), None)

    def _claim(self, automation_id: int) -> ClaimedFiring | None:
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
                message = f"{first.tries} runners ended before the firing was done."
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
        """Run a claimed firing, and record and return its result."""
        with Lease(self._database, firing, self._lease, self._clock) as lease:
            ended = self._perform_once(automation, firing, lease)
        reached("firing.ran")
        ended = self._record_end(ended)
        reached("firing.ended")
        if self._on_end is not None:
            self._on_end(automation, ended)
        return ended

    def _perform_once(self, automation: Automation, firing: Firing, lease: Lease) -> Firing:
        try:
            snapshot = self._find_committed(automation, firing) or self._perform_in_catalog(
                automation, firing, lease
            )
            return replace(firing, state=State.SUCCEEDED, result_snapshot=snapshot)
        except ForklakeError as error:
            failed = replace(firing, state=State.FAILED, message=str(error)[:_MESSAGE_LENGTH])
        except Exception as error:
            _logger.exception("automation %s failed", automation.name)
            message = f"{type(error).__name__}: {error}"
            failed = replace(firing, state=State.FAILED, message=message[:_MESSAGE_LENGTH])
        # The failure may be caused by an earlier try that went on after its lease was lost.
        snapshot = self._find_committed(automation, firing)
        if snapshot is None:
            return failed
        return replace(firing, state=State.SUCCEEDED, result_snapshot=snapshot)

    def _find_committed(self, automation: Automation, firing: Firing) -> SnapshotId | None:
        """Return the snapshot that an earlier try has committed, if any."""
        if firing.tries == 1:
            return None
        with self._database.reading() as connection:
            return snapshot_of_key(connection, automation.catalog_id, firing.key)

    def _perform_in_catalog(
        self, automation: Automation, firing: Firing, lease: Lease
    ) -> SnapshotId | None:
        catalog = find_catalog(self._metastore, automation.catalog_id)
        if catalog is None:
            raise NotFound(
                f"The catalog of automation '{automation.name}' was dropped.",
                remedy=f"Remove the automation: forklake automations remove {automation.name}. Add"
                " it again for another catalog if needed.",
            )
        return self._perform(FiringRun(automation, firing, catalog.name, lease.check))

    def _record_end(self, firing: Firing) -> Firing:
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
        return replace(firing, state=State.RUNNING, message="Taken over by another runner.")

    # Continuously

    def run_until(self, stop: threading.Event, *, pause: float = 1.0) -> None:
        """Run due firings until `stop` is set, with pauses when nothing is due. A running firing
        is completed first."""
        while not stop.is_set():
            try:
                for automation, firing in self._run_due(stop):
                    _logger.info("%s, %s: %s", automation.name, firing.occasion, firing.state)
            except ForklakeError as error:  # the metastore may be available again later
                _logger.warning("automations cannot be run now: %s", error)
            stop.wait(pause)


def _is_held(firing: Firing, now: datetime) -> bool:
    return firing.leased_until is not None and firing.leased_until > now
