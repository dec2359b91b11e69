"""Automations as the metastore keeps them: which workbook runs, and when.

Nobody locks while finding out what is due. Whoever writes it down also raises the automation's
revision, and only from the one that was looked at: of many, one succeeds.
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
from forklake.store.times import as_time


class Overlap(StrEnum):
    """What becomes of an occasion that comes while an earlier one is not done with."""

    SKIP = "skip"
    QUEUE = "queue"


class CatchUp(StrEnum):
    """Which of several occasions count that are found at once."""

    LATEST = "latest"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Watched:
    """The table whose changes are waited for."""

    catalog_id: CatalogId
    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class Automation:
    """A workbook, and when it runs: by a schedule, or when a table changes."""

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
    """Whether the tables of automations are there."""
    try:
        with database.reading() as connection:
            connection.columns_of("reagent_firing")  # the last one that is made
    except Corruption:
        return False
    return True


def install_automations(database: Database) -> None:
    """Make the tables of automations, unless they are there."""
    install(database, "automations.sql")


def database_time(connection: Connection) -> datetime:
    """What the database's clock says: the one clock that all runners share."""
    dialect = connection.dialect
    ((moment,),) = connection.fetch(f"SELECT {dialect.time(dialect.now)}")
    return as_time(moment)


# Reading


def _select(connection: Connection) -> str:
    time = connection.dialect.time
    columns = [time(f"a.{one}") if one in _TIMES else f"a.{one}" for one in _COLUMNS]
    return f"SELECT {', '.join(columns)} FROM reagent_automation a"


def list_automations(connection: Connection) -> list[Automation]:
    """All automations, by name."""
    return [_automation(row) for row in connection.fetch(f"{_select(connection)} ORDER BY a.name")]


def find_automation(connection: Connection, name: str) -> Automation | None:
    """The automation of a name."""
    rows = connection.fetch(f"{_select(connection)} WHERE a.name = :name", name=name)
    return _automation(rows[0]) if rows else None


def automation_of(connection: Connection, automation_id: int) -> Automation | None:
    """The automation of an id."""
    rows = connection.fetch(f"{_select(connection)} WHERE a.automation_id = :id", id=automation_id)
    return _automation(rows[0]) if rows else None


def possibly_due(connection: Connection, now: datetime) -> list[Automation]:
    """Automations whose time has come, and those in whose watched catalog something happened."""
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
    """The error for an automation that is not there."""
    return NotFound(
        f"Automation '{name}' does not exist.",
        remedy="List those there are with: forklake automations list.",
        automation=name,
    )


# Changing


def insert_automation(database: Database, made: Automation) -> None:
    """Keep a new automation."""
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
    """Forget an automation and all its firings."""
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
    """Note up to where it is known what is due; False if the automation changed since it was read.

    From here on, others who want the same wait until this transaction ends.
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
