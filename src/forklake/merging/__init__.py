"""Diff of two catalogs, and merge of a fork into its parent or of a parent into its fork."""

from forklake.merging.differences import diff
from forklake.merging.fork_merge import merge_fork, parent_of
from forklake.merging.holds import create_held_fork, holder_of, release_fork
from forklake.model.diffs import Diff, RowDifference, TableDifference
from forklake.model.merge_outcomes import DefinitionConflict, Merged, RowConflict, TableMerge

__all__ = [
    "DefinitionConflict",
    "Diff",
    "Merged",
    "RowConflict",
    "RowDifference",
    "TableDifference",
    "TableMerge",
    "create_held_fork",
    "diff",
    "holder_of",
    "merge_fork",
    "parent_of",
    "release_fork",
]
