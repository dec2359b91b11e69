"""The audit: what was done, denied or failed, by whom. Rows are only ever added."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database
from forklake.store.operations import Insert
from forklake.store.times import as_time

_COLUMNS = (
    "audit_id",
    "happened_at",
    "principal_id",
    "principal",
    "operation",
    "object",
    "catalog_id",
    "outcome",
)
_LONGEST = 1000  # characters of an object's name; what was asked for may be anything


class Outcome(StrEnum):
    """How something ended."""

    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"


class Actor(NamedTuple):
    """Who did something, and when."""

    principal_id: int
    principal: str
    now: datetime


class Deed(NamedTuple):
    """What was done to what."""

    operation: str
    object: str
    catalog_id: CatalogId | None = None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry of the audit."""

    audit_id: str
    happened_at: datetime
    principal: str
    operation: str
    object: str
    catalog_id: CatalogId | None
    outcome: Outcome


def audit_insert(actor: Actor, deeds: Sequence[Deed], outcome: Outcome) -> Insert:
    """The entries of some deeds that ended alike."""
    began = time.time_ns()
    rows = [
        (
            _audit_id(began + place),
            actor.now,
            actor.principal_id,
            actor.principal,
            deed.operation,
            _kept(deed.object),
            deed.catalog_id,
            str(outcome),
        )
        for place, deed in enumerate(deeds)
    ]
    return Insert("crucible_audit", _COLUMNS, rows)


def _audit_id(moment: int) -> str:
    """Digits in the order of time, different for whoever else writes in the same moment."""
    return f"{moment:019d}{random.randrange(10**9):09d}"


def _kept(text: str) -> str:
    """A text that every database can hold."""
    shown = text[:_LONGEST].replace("\0", "\\x00")
    return shown.encode("utf-8", "backslashreplace").decode()


def write_audit(database: Database, actor: Actor, deed: Deed, outcome: Outcome) -> None:
    """Add an entry in a transaction of its own."""
    with database.writing() as connection:
        connection.commit([audit_insert(actor, [deed], outcome)])


def list_audit(
    connection: Connection, *, catalog_id: CatalogId | None, after: str | None, limit: int
) -> list[AuditRow]:
    """Entries, the newest first; `after` is the id of the last one of the page before."""
    conditions = ["audit_id < :after"] if after is not None else []
    conditions += ["catalog_id = :catalog"] if catalog_id is not None else []
    chosen = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = connection.fetch(
        "SELECT audit_id, principal, operation, object, catalog_id, outcome,"
        f" {connection.dialect.time('happened_at')} FROM crucible_audit{chosen}"
        " ORDER BY audit_id DESC LIMIT :count",
        **({"after": after} if after is not None else {}),
        **({"catalog": catalog_id} if catalog_id is not None else {}),
        count=limit,
    )
    return [
        AuditRow(number, as_time(moment), who, operation, what, catalog, Outcome(outcome))
        for number, who, operation, what, catalog, outcome, moment in rows
    ]
