"""Delta tables: the part of a commit that goes to the Delta log besides the changed files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from forklake.model.changes import ChangeKind


class FaceMode(StrEnum):
    """Authoritative log of a Delta table: the one in the metastore, or the log files."""

    OWN = "own"
    FOLLOW = "follow"


class FaceAction(NamedTuple):
    """An action of a Delta log that the lake has no rows for; `body` is its JSON."""

    kind: str
    key: str
    body: str


@dataclass(frozen=True, slots=True)
class FaceCommit:
    """Entry of a commit in the log of one Delta table.

    Args:
        operation: name of the operation in the history of the Delta table.
        version: version from another log; None for the next version.
        timestamp: milliseconds since 1970, from another log; None for the time of the commit.
    """

    operation: str
    actions: tuple[FaceAction, ...] = ()
    version: int | None = None
    timestamp: int | None = None


# The first kind that a commit contains determines the name of its operation.
_OPERATIONS = (
    (ChangeKind.MERGED, "OPTIMIZE"),
    (ChangeKind.REWRITTEN, "OPTIMIZE"),
    (ChangeKind.FLUSHED, "OPTIMIZE"),
    (ChangeKind.DELETED, "DELETE"),
    (ChangeKind.INLINED_DELETE, "DELETE"),
    (ChangeKind.INSERTED, "WRITE"),
    (ChangeKind.INLINED_INSERT, "WRITE"),
    (ChangeKind.ALTERED_TABLE, "SET TBLPROPERTIES"),
)


def operation_of(kinds: Iterable[ChangeKind]) -> str:
    """Return the Delta operation name of a commit that made these kinds of changes to a table."""
    made = set(kinds)
    if {ChangeKind.DELETED, ChangeKind.INSERTED} <= made:
        return "UPDATE"
    return next((name for kind, name in _OPERATIONS if kind in made), "CREATE TABLE")
