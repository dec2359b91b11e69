"""What a merge did, would do, or could not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forklake.errors import Conflict
from forklake.model.ids import SnapshotId

LISTED = 100  # conflicting rows of a table that are told at most


@dataclass(frozen=True, slots=True)
class RowConflict:
    """A row that both sides touched: its id in the target, what each did, and what it is there."""

    row_id: int
    source_did: str
    target_did: str
    source_row: str | None = None  # as JSON; None where it is gone
    target_row: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionConflict:
    """A definition that does not go together with the target's."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class TableMerge:
    """What a merge does to the rows of one table.

    `appended_files` became part of the target as they are. `conflicts` are the first of
    `conflict_count` rows, whether they stopped the merge or were decided.
    """

    table: str
    appended_rows: int = 0
    appended_files: int = 0
    updated: int = 0
    deleted: int = 0
    conflict_count: int = 0
    conflicts: tuple[RowConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of a merge.

    Args:
        snapshot_id: the snapshot of the target that it is; None if there was nothing to merge, or
            nothing was to be changed.
        definitions: what came along besides rows, in words.
        left_out: tables that the source changed and that were not asked for. What the target has
            then is something that the source never was.
    """

    source: str
    target: str
    snapshot_id: SnapshotId | None
    tables: tuple[TableMerge, ...] = ()
    definitions: tuple[str, ...] = ()
    conflicts: tuple[DefinitionConflict, ...] = ()
    left_out: tuple[str, ...] = ()
    is_dry_run: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether only some of what the source changed was asked for."""
        return bool(self.left_out)

    @property
    def has_conflicts(self) -> bool:
        """Whether some things were touched on both sides."""
        return bool(self.conflicts) or any(one.conflict_count for one in self.tables)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self) | {"is_partial": self.is_partial}


def refused(
    source: str, target: str, problems: Sequence[DefinitionConflict | TableMerge]
) -> Conflict:
    """Return the error of a merge, with the conflicts of source and target."""
    lines = [line for one in problems for line in _lines(source, target, one)]
    shown = "".join(f"\n  {line}" for line in lines[:10]) + ("\n  …" if len(lines) > 10 else "")
    remedy = f"Resolve the conflicts in '{source}' or '{target}'."
    if any(isinstance(one, TableMerge) for one in problems):
        remedy = (
            f"Resolve the conflicts in '{source}' or '{target}', or choose a side for rows:"
            f" --on-conflict ours (rows of '{target}') or --on-conflict theirs (rows of"
            f" '{source}'); in SQL on_conflict => 'ours' or 'theirs'."
        )
    return Conflict(
        f"The source '{source}' cannot be merged into the target '{target}':{shown}",
        remedy=remedy,
        conflicts=[_plain(one) for one in problems],
    )


def _lines(source: str, target: str, problem: DefinitionConflict | TableMerge) -> list[str]:
    if isinstance(problem, DefinitionConflict):
        return [f"{problem.what}: {problem.reason}"]
    return [
        f"row {one.row_id} of table {problem.table}: {one.source_did} in the source '{source}',"
        f" {one.target_did} in the target '{target}'"
        for one in problem.conflicts
    ]


def _plain(problem: DefinitionConflict | TableMerge) -> dict[str, Any]:
    return asdict(problem)
