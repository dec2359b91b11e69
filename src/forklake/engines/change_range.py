"""Range of snapshots whose changes of a table are read."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.entities import Table
from forklake.model.scans import TableChanges


@dataclass(frozen=True, slots=True)
class ChangeRange:
    """Changes of a table from one snapshot to another.

    Args:
        seen: the catalog at the last snapshot, whose columns the rows get.
        start: the first snapshot.
    """

    seen: SnapshotReads
    table: Table
    changes: TableChanges
    start: int
