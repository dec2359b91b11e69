"""Rows of a table that a statement may change, and the columns that locate them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forklake.engines.changes import PendingChange
from forklake.engines.targets import Target
from forklake.model.fields import Field
from forklake.model.scans import ScanFile

# Columns that locate a row: the id of its data file, the row number in it, and the row id. An
# inlined row has no file and no position.
FILE, POSITION, ROW = "__file", "__position", "__rowid"


@dataclass(frozen=True, slots=True)
class Matching:
    """Table whose rows are searched, so that they can be changed.

    Only `files`, which may have matching rows, and inlined rows are read. Conditions refer to the
    table by `alias`.
    """

    change: PendingChange
    target: Target
    alias: str
    files: Sequence[ScanFile]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the table."""
        return self.target.fields
