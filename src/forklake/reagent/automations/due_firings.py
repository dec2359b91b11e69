"""Planner of automations: creates firings for what is due, once per occasion.

Any number of runners may look for due firings at once, without locks. `admit` decides which of them
are run. The firings are then written together with the new revision of the automation; nothing is
written if another runner has changed the revision before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import ForklakeError, Unavailable
from forklake.model.ids import CatalogId, SnapshotId
from forklake.reagent.automations.schedules import Schedule
from forklake.reagent.automations.triggers import find_table_changes
from forklake.store.automations import (
    Automation,
    CatchUp,
    Overlap,
    Watched,
    database_time,
    possibly_due,
    revise,
)
from forklake.store.catalogs import catalogs_of
from forklake.store.database import Connection
from forklake.store.firings import (
    Firing,
    State,
    firings_insert,
    forgetting,
    key_prefix,
    skipping,
    unfinished,
)
from forklake.store.phases import reached

_logger = logging.getLogger("forklake.automations")
# Returns the current time: that of the database, except in tests.
Clock = Callable[[Connection], datetime]
# Maximum number of missed times recorded in one pass; the next pass finds the others.
_MOST_AT_ONCE = 1000
# How long the history of firings is kept.
_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class DueFirings:
    """Firings of an automation that are due, and the point up to which it was examined."""

    firings: list[Firing]
    next_due_at: datetime | None = None
    seen_snapshot: SnapshotId | None = None


def plan_firings(metastore: Metastore, clock: Clock = database_time) -> list[Firing]:
    """Record and return the firings of all automations that became due."""
    with metastore.database.reading() as connection:
        now = clock(connection)
        automations = possibly_due(connection, now)
    found: list[Firing] = []
    for automation in automations:
        try:
            found += _plan_automation(metastore, automation, now)
        except Unavailable:
            raise
        except ForklakeError as error:  # continue with the other automations
            _logger.warning("automation %s cannot be planned: %s", automation.name, error)
    return found


def _plan_automation(metastore: Metastore, automation: Automation, now: datetime) -> list[Firing]:
    due = find_due(metastore, automation, now)
    if due is None:
        return []
    reached("firing.found")
    return _write_firings(metastore, automation, due, now)


def find_due(metastore: Metastore, automation: Automation, now: datetime) -> DueFirings | None:
    """Return what is due of an automation. None if the catalog of its table was dropped."""
    if automation.schedule is not None:
        return _find_due_by_schedule(automation, now)
    assert automation.watched is not None
    return _find_due_by_table(metastore, automation, automation.watched)


def _find_due_by_schedule(automation: Automation, now: datetime) -> DueFirings:
    schedule = parse_schedule(automation)
    first = automation.next_due_at
    assert first is not None
    start = first - timedelta(microseconds=1)
    if automation.catch_up is CatchUp.ALL:
        moments = schedule.between(start, now, _MOST_AT_ONCE)
    else:
        latest = schedule.latest(start, now)
        moments = [] if latest is None else [latest]
    last = moments[-1] if moments else now
    return DueFirings(
        [_new_firing(automation, name_occasion(one), one) for one in moments],
        next_due_at=schedule.next_after(last),
    )


def _find_due_by_table(
    metastore: Metastore, automation: Automation, watched: Watched
) -> DueFirings | None:
    catalog = find_catalog(metastore, watched.catalog_id)
    assert automation.seen_snapshot is not None
    found = catalog and find_table_changes(
        catalog,
        watched,
        automation.seen_snapshot,
        except_keys=key_prefix(automation.automation_id),
    )
    if not found:
        return None
    firings = [
        _new_firing(automation, f"snapshot {number}", moment, number)
        for number, moment in found.snapshots
    ]
    return DueFirings(firings, seen_snapshot=found.examined)


def _new_firing(
    automation: Automation, occasion: str, due_at: datetime, snapshot_id: SnapshotId | None = None
) -> Firing:
    return Firing(automation.automation_id, occasion, snapshot_id, State.WAITING, due_at)


def name_occasion(moment: datetime) -> str:
    """Return the occasion (name of a firing) of a scheduled time."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_schedule(automation: Automation) -> Schedule:
    """Return the schedule of an automation that has one."""
    assert automation.schedule is not None
    return Schedule.parse(automation.schedule, automation.time_zone or "UTC")


def find_catalog(metastore: Metastore, catalog_id: CatalogId) -> Catalog | None:
    """Return the catalog with an id, or None if it was dropped."""
    with metastore.database.reading() as connection:
        rows = catalogs_of(connection, [catalog_id])
    return Catalog(metastore, rows[0]) if rows else None


def admit(
    automation: Automation, due: Sequence[Firing], earlier: Sequence[Firing], now: datetime
) -> tuple[list[Firing], list[Firing]]:
    """Return the due firings to record, and the earlier waiting ones that they replace.

    `earlier` are the unfinished firings of the automation.
    """
    chosen = list(due if automation.catch_up is CatchUp.ALL else due[-1:])
    if automation.overlap is Overlap.SKIP and earlier:
        return [replace(one, state=State.SKIPPED, ended_at=now) for one in chosen], []
    if automation.catch_up is CatchUp.ALL or not chosen:
        return chosen, []
    return chosen, [one for one in earlier if one.state is State.WAITING]


def _write_firings(
    metastore: Metastore, automation: Automation, due: DueFirings, now: datetime
) -> list[Firing]:
    with metastore.database.writing() as connection:
        is_first = revise(
            connection,
            automation,
            is_enabled=True,
            next_due_at=due.next_due_at,
            seen_snapshot=due.seen_snapshot,
        )
        if not is_first:
            return []
        earlier = unfinished(connection, automation.automation_id)
        made, needless = admit(automation, due.firings, earlier, now)
        connection.commit(
            [
                *([firings_insert(made)] if made else []),
                *skipping(needless, now),
                forgetting(automation.automation_id, now - _KEPT),
            ]
        )
    reached("firing.planned")
    return made
