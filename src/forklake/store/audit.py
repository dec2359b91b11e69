"""Audit of operations that were done, denied or failed, and by which principal. Append-only."""

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
from forklake.store.schema.optional_tables import AUDIT
from forklake.store.times import as_time

_COLUMNS = AUDIT.column_names
_LONGEST = 1000  # characters of an object's name: requests may contain any text


class Outcome(StrEnum):
    """Outcome of an audited operation."""

    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"


class Actor(NamedTuple):
    """Principal that performed an operation, and when."""

    principal_id: int
    principal: str
    now: datetime


class Deed(NamedTuple):
    """Operation and the object it was applied to."""

    operation: str
    object: str
    catalog_id: CatalogId | None = None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Entry of the audit."""

    audit_id: str
    happened_at: datetime
    principal: str
    operation: str
    object: str
    catalog_id: CatalogId | None
    outcome: Outcome


def audit_insert(actor: Actor, deeds: Sequence[Deed], outcome: Outcome) -> Insert:
    """Return the operation that adds an entry for each of some deeds with the same outcome."""
    began = time.time_ns()
    rows = [
        (
            _audit_id(began + place),
            actor.now,
            actor.principal_id,
            actor.principal,
            deed.operation,
            _escape_text(deed.object),
            deed.catalog_id,
            str(outcome),
        )
        for place, deed in enumerate(deeds)
    ]
    return Insert("crucible_audit", _COLUMNS, rows)


def _audit_id(moment: int) -> str:
    """Return an id of digits that sorts by time and is unique among concurrent writers."""
    return f"{moment:019d}{random.randrange(10**9):09d}"


def _escape_text(text: str) -> str:
    """Return the text shortened, and escaped where a database could not store it."""
    shown = text[:_LONGEST].replace("\0", "\\x00")
    return shown.encode("utf-8", "backslashreplace").decode()


def write_audit(database: Database, actor: Actor, deed: Deed, outcome: Outcome) -> None:
    """Add an entry in a transaction of its own."""
    with database.writing() as connection:
        connection.commit([audit_insert(actor, [deed], outcome)])


def list_audit(
    connection: Connection, *, catalog_id: CatalogId | None, after: str | None, limit: int
) -> list[AuditRow]:
    """Return entries, newest first. `after` is the id of the last entry of the previous page."""
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
