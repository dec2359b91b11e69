"""Merge rules as literal tables: (change of the source, change of the target) -> verdict.

A merge takes the changes of the source since its last merge into the target. A row that compaction
only moved to another file counts as unchanged.
"""

from __future__ import annotations

from enum import Enum


class ChangeStatus(Enum):
    """The change of one side since it was last merged into the other."""

    UNCHANGED = "left alone"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Verdict(Enum):
    """The action of the merge."""

    TAKE = "take over what the source did"
    KEEP = "keep what the target has"
    IF_EQUAL = "keep it if both did the same, else conflict"
    CONFLICT = "conflict"


_N, _A, _C, _R = (
    ChangeStatus.UNCHANGED,
    ChangeStatus.ADDED,
    ChangeStatus.CHANGED,
    ChangeStatus.REMOVED,
)

# (source, target) -> action. If the source did nothing, the target is not changed.
DEFINITIONS: dict[tuple[ChangeStatus, ChangeStatus], Verdict] = {
    (_A, _N): Verdict.TAKE,
    (_A, _A): Verdict.IF_EQUAL,
    (_A, _C): Verdict.IF_EQUAL,
    (_A, _R): Verdict.CONFLICT,
    (_C, _N): Verdict.TAKE,
    (_C, _A): Verdict.IF_EQUAL,
    (_C, _C): Verdict.IF_EQUAL,
    (_C, _R): Verdict.CONFLICT,
    (_R, _N): Verdict.TAKE,
    (_R, _A): Verdict.CONFLICT,
    (_R, _C): Verdict.CONFLICT,
    (_R, _R): Verdict.KEEP,
}

# The same for rows, matched by row id. New rows have new ids, so they cannot conflict.
ROWS: dict[tuple[ChangeStatus, ChangeStatus], Verdict] = {
    (_A, _N): Verdict.TAKE,
    (_C, _N): Verdict.TAKE,
    (_C, _C): Verdict.CONFLICT,
    (_C, _R): Verdict.CONFLICT,
    (_R, _N): Verdict.TAKE,
    (_R, _C): Verdict.CONFLICT,
    (_R, _R): Verdict.KEEP,
}


def definition_verdict(source: ChangeStatus, target: ChangeStatus) -> Verdict:
    """Return the verdict for a definition."""
    return DEFINITIONS.get((source, target), Verdict.KEEP)


def row_pairs(verdict: Verdict) -> list[tuple[ChangeStatus, ChangeStatus]]:
    """Return the (source, target) pairs that have this verdict for rows."""
    return [pair for pair, found in ROWS.items() if found is verdict]
