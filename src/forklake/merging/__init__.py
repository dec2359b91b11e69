"""Diff of two catalogs, and merge of a fork into its parent or of a parent into its fork."""

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
