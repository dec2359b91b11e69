"""Automations in the metastore: which workbook runs, and when.

Finding what is due takes no locks. Recording it raises the automation's revision, which succeeds
only from the revision that was read: of several concurrent writers, one succeeds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from forklake.errors import AlreadyExists, Corruption, NotFound
from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.access import install
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Insert, Statement
from forklake.store.schema.optional_tables import AUTOMATIONS
from forklake.store.times import as_time


class Overlap(StrEnum):
    """What happens to an occasion that comes due while an earlier one is unfinished."""

    SKIP = "skip"
    QUEUE = "queue"


class CatchUp(StrEnum):
    """Which of several overdue occasions are run."""

    LATEST = "latest"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Watched:
    """Table whose changes trigger an automation."""

    catalog_id: CatalogId
    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class Automation:
    """Workbook, and when it runs: by a schedule, or when a table changes."""

    automation_id: int
    name: str
    catalog_id: CatalogId
    workbook_path: str | None
    workbook_text: str | None
    parameters: Mapping[str, str]
    isolation: str | None
    schedule: str | None
    time_zone: str | None
    watched: Watched | None
    overlap: Overlap
    catch_up: CatchUp
    is_enabled: bool
    created_at: datetime
    next_due_at: datetime | None
    seen_snapshot: SnapshotId | None
    revision: int = 0


_COLUMNS = (
    "automation_id",
    "name",
    "catalog_id",
    "workbook_path",
    "workbook_text",
    "parameters",
    "isolation",
    "schedule",
    "time_zone",
    "table_catalog_id",
    "schema_name",
    "table_name",
    "overlap",
    "catch_up",
    "is_enabled",
    "seen_snapshot",
    "revision",
    "created_at",
    "next_due_at",
)
_TIMES = ("created_at", "next_due_at")


def are_installed(database: Database) -> bool:
    """Return whether the tables of automations exist."""
    try:
        with database.reading() as connection:
            connection.columns_of("reagent_firing")  # the table that is created last
    except Corruption:
        return False
    return True


def install_automations(database: Database) -> None:
    """Create the tables of automations, unless they exist."""
    install(database, AUTOMATIONS)


def database_time(connection: Connection) -> datetime:
    """Return the time of the database: the one clock that all runners share."""
    dialect = connection.dialect
    ((moment,),) = connection.fetch(f"SELECT {dialect.time(dialect.now)}")
    return as_time(moment)


# Reading


def _select(connection: Connection) -> str:
    time = connection.dialect.time
    columns = [time(f"a.{one}") if one in _TIMES else f"a.{one}" for one in _COLUMNS]
    return f"SELECT {', '.join(columns)} FROM reagent_automation a"


def list_automations(connection: Connection) -> list[Automation]:
    """Return all automations, sorted by name."""
    return [_automation(row) for row in connection.fetch(f"{_select(connection)} ORDER BY a.name")]


def find_automation(connection: Connection, name: str) -> Automation | None:
    """Return the automation with this name, or None."""
    rows = connection.fetch(f"{_select(connection)} WHERE a.name = :name", name=name)
    return _automation(rows[0]) if rows else None


def automation_of(connection: Connection, automation_id: int) -> Automation | None:
    """Return the automation with this id, or None."""
    rows = connection.fetch(f"{_select(connection)} WHERE a.automation_id = :id", id=automation_id)
    return _automation(rows[0]) if rows else None


def possibly_due(connection: Connection, now: datetime) -> list[Automation]:
    """Return automations whose due time has passed or whose watched catalog has new commits."""
    rows = connection.fetch(
        f"{_select(connection)} LEFT JOIN ducklake_catalog_head h"
        " ON h.catalog_id = a.table_catalog_id"
        " WHERE a.is_enabled AND (a.next_due_at <= :now OR h.snapshot_id > a.seen_snapshot)"
        " ORDER BY a.name",
        now=now,
    )
    return [_automation(row) for row in rows]


def _automation(row: Any) -> Automation:
    *values, created_at, next_due_at = row
    found = dict(zip(_COLUMNS, values, strict=False))
    watched = [found.pop(one) for one in ("table_catalog_id", "schema_name", "table_name")]
    return Automation(
        **found
        | {
            "parameters": json.loads(found["parameters"]),
            "watched": None if watched[0] is None else Watched(*watched),
            "overlap": Overlap(found["overlap"]),
            "catch_up": CatchUp(found["catch_up"]),
            "is_enabled": bool(found["is_enabled"]),
            "created_at": as_time(created_at),
            "next_due_at": None if next_due_at is None else as_time(next_due_at),
        }
    )


def unknown_automation(name: str) -> NotFound:
    """Return the error for an automation that does not exist."""
    return NotFound(
        f"Automation '{name}' does not exist.",
        remedy="List the automations: `forklake automations list`.",
        automation=name,
    )


# Changing


def insert_automation(database: Database, made: Automation) -> None:
    """Add an automation. Raises AlreadyExists if its name is taken."""
    watched = made.watched
    row = (
        made.automation_id,
        made.name,
        made.catalog_id,
        made.workbook_path,
        made.workbook_text,
        json.dumps(dict(made.parameters)),
        made.isolation,
        made.schedule,
        made.time_zone,
        *((watched.catalog_id, watched.schema, watched.table) if watched else (None,) * 3),
        made.overlap.value,
        made.catch_up.value,
        made.is_enabled,
        made.seen_snapshot,
        made.revision,
        made.created_at,
        made.next_due_at,
    )
    with database.writing() as connection:
        connection.run(connection.lock(Lock.ACCESS))
        if find_automation(connection, made.name) is not None:
            raise AlreadyExists(
                f"Automation '{made.name}' already exists.", remedy="Choose another name."
            )
        connection.commit([Insert("reagent_automation", _COLUMNS, [row])])


def delete_automation(database: Database, automation_id: int) -> None:
    """Delete an automation and all its firings."""
    with database.writing() as connection:
        given = {"id": automation_id}
        connection.commit(
            [
                Statement("DELETE FROM reagent_automation WHERE automation_id = :id", given),
                Statement("DELETE FROM reagent_firing WHERE automation_id = :id", given),
            ]
        )


def revise(
    connection: Connection,
    automation: Automation,
    *,
    is_enabled: bool,
    next_due_at: datetime | None,
    seen_snapshot: SnapshotId | None,
) -> bool:
    """Record up to where due occasions have been found; False if the automation has changed.

    Concurrent transactions that revise the same automation wait until this one ends.
    """
    found = connection.fetch(
        "UPDATE reagent_automation SET is_enabled = :enabled, next_due_at = :due,"
        " seen_snapshot = :seen, revision = revision + 1"
        " WHERE automation_id = :id AND revision = :revision RETURNING automation_id",
        id=automation.automation_id,
        revision=automation.revision,
        enabled=is_enabled,
        due=next_due_at,
        seen=seen_snapshot,
    )
    return bool(found)
