"""The Delta face of a table: what a commit tells the Delta log besides the files it changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from forklake.model.changes import ChangeKind


class FaceMode(StrEnum):
    """Which log is the one of record: the metastore's, or the files of others."""

    OWN = "own"
    FOLLOW = "follow"


class FaceAction(NamedTuple):
    """An action that the lake has no rows for; `body` is its JSON."""

    kind: str
    key: str
    body: str


@dataclass(frozen=True, slots=True)
class FaceCommit:
    """What a commit tells the log of one table.

    Args:
        operation: what was done, as Delta's history calls it.
        version, timestamp: of a version that comes from another log; else the next, and now.
    """

    operation: str
    actions: tuple[FaceAction, ...] = ()
    version: int | None = None
    timestamp: int | None = None


# The first that a commit did is what its operation is called.
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
    """What Delta's history calls a commit that made some changes to a table."""
    made = set(kinds)
    if {ChangeKind.DELETED, ChangeKind.INSERTED} <= made:
        return "UPDATE"
    return next((name for kind, name in _OPERATIONS if kind in made), "CREATE TABLE")
