"""Firings: each time that an automation is due, and who runs it.

A firing is claimed under the lock of its automation's row, so that no two of an automation run at
once. The claim is a lease: whoever does not renew it in time loses it, and from then on can change
nothing about the firing, because owner and number of tries are no longer theirs.
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
    """What has become of a firing."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


_NOT_IN_KEYS = re.compile(r"[^0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Firing:
    """One occasion at which an automation runs."""

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
        """The idempotency key of what the run commits."""
        return key_prefix(self.automation_id) + _NOT_IN_KEYS.sub("-", self.occasion)


def key_prefix(automation_id: int) -> str:
    """How the keys of all firings of an automation begin."""
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
    """The newest firings of an automation, the newest first."""
    rows = connection.fetch(
        f"{_select(connection)} WHERE automation_id = :id"
        f" ORDER BY due_at DESC, occasion DESC LIMIT {int(limit)}",
        id=automation_id,
    )
    return [_firing(row) for row in rows]


def last_firings(connection: Connection) -> dict[int, Firing]:
    """The newest firing of each automation that has one."""
    rows = connection.fetch(
        f"{_select(connection)} f WHERE NOT EXISTS (SELECT 1 FROM reagent_firing o"
        " WHERE o.automation_id = f.automation_id AND (o.due_at > f.due_at"
        " OR (o.due_at = f.due_at AND o.occasion > f.occasion)))"
    )
    return {one.automation_id: one for one in map(_firing, rows)}


def unfinished(connection: Connection, automation_id: int) -> list[Firing]:
    """Firings of an automation that wait or run, in the order in which they are due."""
    rows = connection.fetch(
        f"{_select(connection)} WHERE automation_id = :id AND ended_at IS NULL"
        " ORDER BY due_at, occasion",
        id=automation_id,
    )
    return [_firing(row) for row in rows]


def claimable(connection: Connection, now: datetime) -> list[int]:
    """Automations of which a firing can be claimed, those first that have waited longest."""
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
    """The snapshot that a catalog's commit under a key became."""
    (rows,) = connection.run([used_key_statement(catalog_id, key)])
    return max((SnapshotId(row[0]) for row in rows), default=None)


# Coming to be


def firings_insert(firings: Iterable[Firing]) -> Insert:
    """New firings; an occasion that is known stays as it is."""
    columns = ("automation_id", "occasion", "snapshot_id", "due_at", "ended_at", "state", "tries")
    values = attrgetter(*columns[:-2])
    rows = [(*values(one), one.state.value, one.tries) for one in firings]
    return Insert("reagent_firing", columns, rows, skips_existing=True)


def skipping(firings: Sequence[Firing], now: datetime) -> list[Statement]:
    """What lets firings that still wait go without a run."""
    return [
        Statement(
            "UPDATE reagent_firing SET state = 'skipped', ended_at = :now"
            " WHERE automation_id = :id AND occasion = :occasion AND state = 'waiting'",
            {"id": one.automation_id, "occasion": one.occasion, "now": now},
        )
        for one in firings
    ]


def forgetting(automation_id: int, before: datetime) -> Statement:
    """What forgets firings that are long done with."""
    return Statement(
        "DELETE FROM reagent_firing WHERE automation_id = :id AND ended_at < :before",
        {"id": automation_id, "before": before},
    )


# Running


def lock_automation(connection: Connection, automation_id: int) -> bool:
    """Take the right to claim a firing of an automation; False if somebody else has it, or it is
    not enabled any more."""
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
    """Make a firing somebody's until a moment, one try more than before."""
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
    """Hold a claimed firing until another moment; False if it is not ours any more."""
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
    """Note what a claimed firing came to; False if it is not ours any more."""
    text = (
        "UPDATE reagent_firing SET state = :state, ended_at = :now, leased_until = NULL,"
        f" result_snapshot = :result, message = :message{_OURS}"
    )
    given = {"state": state.value, "now": now, "result": result_snapshot, "message": message}
    return bool(connection.fetch(text, **given, **_ours(firing)))
