"""Error of a merge with conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from forklake.errors import Conflict
from forklake.model.merge_outcomes import DefinitionConflict, TableMerge


def merge_conflict(
    source: str, target: str, problems: Sequence[DefinitionConflict | TableMerge]
) -> Conflict:
    """Return the error of a merge, with the conflicts of source and target."""
    lines = [line for one in problems for line in _describe_problem(source, target, one)]
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
        conflicts=[asdict(one) for one in problems],
    )


def _describe_problem(
    source: str, target: str, problem: DefinitionConflict | TableMerge
) -> list[str]:
    if isinstance(problem, DefinitionConflict):
        return [f"{problem.what}: {problem.reason}"]
    return [
        f"row {one.row_id} of table {problem.table}: {one.source_did} in the source '{source}',"
        f" {one.target_did} in the target '{target}'"
        for one in problem.conflicts
    ]
