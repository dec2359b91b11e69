"""Clauses of MERGE INTO, as engines apply them to joined rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from forklake.engines.assignments import Assignment
from forklake.engines.relations import Expression


class When(Enum):
    """Where a row exists."""

    MATCHED = "in both"
    NOT_MATCHED = "in the source only"
    NOT_MATCHED_BY_SOURCE = "in the table only"


class Action(Enum):
    """Action of a clause on a row."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Clause:
    """Action on rows that exist in certain relations and satisfy a condition.

    Names in the condition are unambiguous. Values are by folded column name.
    """

    when: When
    condition: Expression | None
    action: Action
    assigned: Mapping[str, Assignment] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """Number of rows that a MERGE INTO inserted, updated and deleted."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
