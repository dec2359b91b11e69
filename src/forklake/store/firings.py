"""Firings: each occasion on which an automation is due, and which runner has claimed it.

A firing is claimed under the lock of its automation's row, so that no two firings of an automation
run at once. The claim is a lease: a runner that does not renew it in time loses it. From then on it
cannot change the firing, because the stored owner and number of tries differ from its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.database import Connection
from forklake.store.idempotency import used_key_statement
from forklake.store.operations import Insert, Statement
from forklake.store.times import as_time


class State(StrEnum):
    """State of a firing."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


_NOT_IN_KEYS = re.compile(r"[^0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Firing:
    """Occasion on which an automation runs."""

    automation_id: int
    occasion: str
    snapshot_id: SnapshotId | None
    state: State
    due_at: datetime
    tries: int = 0
    owner: str | None = None
    result_snapshot: SnapshotId | None = None
    message: str | None = None
    leased_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def key(self) -> str:
        """Idempotency key of the commits of the run."""
        return key_prefix(self.automation_id) + _NOT_IN_KEYS.sub("-", self.occasion)


def key_prefix(automation_id: int) -> str:
    """Return the prefix of the idempotency keys of all firings of an automation."""
    return f"reagent-{automation_id:x}-"


_COLUMNS = (
    "automation_id",
    "occasion",
    "snapshot_id",
    "state",
    "tries",
    "owner",
    "result_snapshot",
    "message",
    "due_at",
    "leased_until",
    "started_at",
    "ended_at",
)
_FIRST_TIME = _COLUMNS.index("due_at")


# Reading


def _select(connection: Connection) -> str:
    times = [connection.dialect.time(one) for one in _COLUMNS[_FIRST_TIME:]]
    return f"SELECT {', '.join([*_COLUMNS[:_FIRST_TIME], *times])} FROM reagent_firing"


def _firing(row: Any) -> Firing:
    values = dict(zip(_COLUMNS, row, strict=True))
    times = {
        name: None if values[name] is None else as_time(values[name])
        for name in _COLUMNS[_FIRST_TIME:]
    }
    return Firing(**values | times | {"state": State(values["state"])})


def list_firings(connection: Connection, automation_id: int, *, limit: int) -> list[Firing]:
    """Return the newest firings of an automation, newest first."""
    rows = connection.fetch(
        f"{_select(connection)} WHERE automation_id = :id"
        f" ORDER BY due_at DESC, occasion DESC LIMIT {int(limit)}",
        id=automation_id,
    )
    return [_firing(row) for row in rows]


def last_firings(connection: Connection) -> dict[int, Firing]:
    """Return the newest firing of each automation that has one."""
    rows = connection.fetch(
        f"{_select(connection)} f WHERE NOT EXISTS (SELECT 1 FROM reagent_firing o"
        " WHERE o.automation_id = f.automation_id AND (o.due_at > f.due_at"
        " OR (o.due_at = f.due_at AND o.occasion > f.occasion)))"
    )
    return {one.automation_id: one for one in map(_firing, rows)}


def unfinished(connection: Connection, automation_id: int) -> list[Firing]:
    """Return the waiting and running firings of an automation, in the order of their due times."""
    rows = connection.fetch(
        f"{_select(connection)} WHERE automation_id = :id AND ended_at IS NULL"
        " ORDER BY due_at, occasion",
        id=automation_id,
    )
    return [_firing(row) for row in rows]


def claimable(connection: Connection, now: datetime) -> list[int]:
    """Return automations with a firing that can be claimed, longest waiting first."""
    rows = connection.fetch(
        "SELECT a.automation_id FROM reagent_automation a"
        " JOIN reagent_firing f ON f.automation_id = a.automation_id"
        " WHERE a.is_enabled AND f.ended_at IS NULL GROUP BY a.automation_id"
        " HAVING sum(CASE WHEN f.state = 'running' AND f.leased_until > :now THEN 1 ELSE 0 END) = 0"
        " ORDER BY min(f.due_at)",
        now=now,
    )
    return [number for (number,) in rows]


def snapshot_of_key(connection: Connection, catalog_id: CatalogId, key: str) -> SnapshotId | None:
    """Return the snapshot that a catalog's commit with this idempotency key created, or None."""
    (rows,) = connection.run([used_key_statement(catalog_id, key)])
    return max((SnapshotId(row[0]) for row in rows), default=None)


# Creation and deletion


def firings_insert(firings: Iterable[Firing]) -> Insert:
    """Return the operation that adds new firings. Existing occasions are not changed."""
    columns = ("automation_id", "occasion", "snapshot_id", "due_at", "ended_at", "state", "tries")
    values = attrgetter(*columns[:-2])
    rows = [(*values(one), one.state.value, one.tries) for one in firings]
    return Insert("reagent_firing", columns, rows, skips_existing=True)


def skipping(firings: Sequence[Firing], now: datetime) -> list[Statement]:
    """Return the statements that mark waiting firings as skipped."""
    return [
        Statement(
            "UPDATE reagent_firing SET state = 'skipped', ended_at = :now"
            " WHERE automation_id = :id AND occasion = :occasion AND state = 'waiting'",
            {"id": one.automation_id, "occasion": one.occasion, "now": now},
        )
        for one in firings
    ]


def forgetting(automation_id: int, before: datetime) -> Statement:
    """Return the statement that deletes firings that ended before a time."""
    return Statement(
        "DELETE FROM reagent_firing WHERE automation_id = :id AND ended_at < :before",
        {"id": automation_id, "before": before},
    )


# Running


def lock_automation(connection: Connection, automation_id: int) -> bool:
    """Lock an automation in order to claim one of its firings.

    Return False if another runner has locked it, or it is not enabled any more.
    """
    return bool(
        connection.fetch(
            "SELECT automation_id FROM reagent_automation WHERE automation_id = :id AND is_enabled"
            f"{connection.dialect.for_picking}",
            id=automation_id,
        )
    )


def claim(
    connection: Connection, firing: Firing, owner: str, now: datetime, until: datetime
) -> None:
    """Claim a firing for a runner until a time, and count the try."""
    connection.fetch(
        "UPDATE reagent_firing SET state = 'running', owner = :owner, tries = tries + 1,"
        " started_at = :now, leased_until = :until"
        " WHERE automation_id = :id AND occasion = :occasion RETURNING tries",
        id=firing.automation_id,
        occasion=firing.occasion,
        owner=owner,
        now=now,
        until=until,
    )


_OURS = (
    " WHERE automation_id = :id AND occasion = :occasion AND state = 'running'"
    " AND owner = :owner AND tries = :tries RETURNING occasion"
)


def _ours(firing: Firing) -> dict[str, Any]:
    return {
        "id": firing.automation_id,
        "occasion": firing.occasion,
        "owner": firing.owner,
        "tries": firing.tries,
    }


def renew(connection: Connection, firing: Firing, until: datetime) -> bool:
    """Extend the claim on a firing. Return False if another runner has taken it over."""
    text = f"UPDATE reagent_firing SET leased_until = :until{_OURS}"
    return bool(connection.fetch(text, until=until, **_ours(firing)))


def end(
    connection: Connection,
    firing: Firing,
    state: State,
    now: datetime,
    *,
    result_snapshot: SnapshotId | None = None,
    message: str | None = None,
) -> bool:
    """Record the outcome of a claimed firing. Return False if another runner has taken it over."""
    text = (
        "UPDATE reagent_firing SET state = :state, ended_at = :now, leased_until = NULL,"
        f" result_snapshot = :result, message = :message{_OURS}"
    )
    given = {"state": state.value, "now": now, "result": result_snapshot, "message": message}
    return bool(connection.fetch(text, **given, **_ours(firing)))
