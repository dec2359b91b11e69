"""What a merge does with each thing, as one literal table.

A merge takes what the source did since the target last heard of it. For each definition and for
each row both sides may have done something, and the pair says what happens. A row that was only
moved by compaction was not touched by anybody.
"""

from __future__ import annotations

from enum import Enum


class Did(Enum):
    """What a side did to a thing since the other last heard of it."""

    NOTHING = "left alone"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Verdict(Enum):
    """What the merge does."""

    TAKE = "take over what the source did"
    KEEP = "keep what the target has"
    IF_EQUAL = "keep it if both did the same, else conflict"
    CONFLICT = "conflict"


_N, _A, _C, _R = Did.NOTHING, Did.ADDED, Did.CHANGED, Did.REMOVED

# (source, target) -> what happens; where the source did nothing, nothing does.
DEFINITIONS: dict[tuple[Did, Did], Verdict] = {
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

# The same for rows, told apart by their ids. New rows are nobody else's.
ROWS: dict[tuple[Did, Did], Verdict] = {
    (_A, _N): Verdict.TAKE,
    (_C, _N): Verdict.TAKE,
    (_C, _C): Verdict.CONFLICT,
    (_C, _R): Verdict.CONFLICT,
    (_R, _N): Verdict.TAKE,
    (_R, _C): Verdict.CONFLICT,
    (_R, _R): Verdict.KEEP,
}


def of_definition(source: Did, target: Did) -> Verdict:
    """What happens to a definition."""
    return DEFINITIONS.get((source, target), Verdict.KEEP)


def row_pairs(verdict: Verdict) -> list[tuple[Did, Did]]:
    """The pairs that end in a verdict for rows."""
    return [pair for pair, found in ROWS.items() if found is verdict]
