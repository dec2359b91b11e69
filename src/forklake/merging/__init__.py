"""Diff of two catalogs, and merge of a fork into its parent or of a parent into its fork."""

from forklake.merging.difference import Diff, RowDifference, TableDifference
from forklake.merging.differences import diff
from forklake.merging.fork_merge import parent_of, publish
from forklake.merging.holds import fork_held, holder_of, release
from forklake.merging.outcome import DefinitionConflict, Merged, RowConflict, TableMerge

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
