"""Merging: what forks and what they were forked from have in common, and bringing them together."""

from forklake.merging.difference import Diff, RowDifference, TableDifference
from forklake.merging.diffing import diff
from forklake.merging.holding import fork_held, holder_of, release
from forklake.merging.outcome import DefinitionConflict, Merged, RowConflict, TableMerge
from forklake.merging.publishing import parent_of, publish

__all__ = [
    "DefinitionConflict",
    "Diff",
    "Merged",
    "RowConflict",
    "RowDifference",
    "TableDifference",
    "TableMerge",
    "diff",
    "fork_held",
    "holder_of",
    "parent_of",
    "publish",
    "release",
]
