"""Sets of rows whose contents merges and comparisons of forks join."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.ids import SnapshotId
from forklake.model.merges import Merge
from forklake.model.scans import ScanFile


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows of a table at a snapshot: the live rows of some files, and some inlined rows."""

    view: SnapshotReads
    table: Table
    files: Sequence[ScanFile] = ()
    rows: Sequence[InlinedRow] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the table."""
        return self.view.state.fields(self.table)


@dataclass(frozen=True, slots=True)
class NewIds:
    """Row ids that one side of a merge assigned since the last merge into the other side.

    Args:
        first: the first of them.
        next: the row id that the next row gets.
        brought: merges from the other side, whose rows have ids in this range but are not new.
        taken: merges into the other side, which gave rows of this side other ids there.
    """

    first: int
    next: int
    brought: Sequence[Merge]
    taken: Sequence[Merge]


@dataclass(frozen=True, slots=True)
class SideChanges:
    """Rows among which those are that one side of a merge changed.

    Args:
        now: current rows of files that differ from before, and such inlined rows.
        before: earlier rows of files that ended or lost rows.
        lost_rows: ids of inlined rows that ended.
        since: snapshot of the last merge into the other side.
        arrived: snapshots by which merges from the other side arrived.
    """

    now: RowSet
    before: Sequence[RowSet]
    lost_rows: Sequence[int]
    since: SnapshotId
    arrived: Collection[SnapshotId]
    ids: NewIds


@dataclass(frozen=True, slots=True)
class SharedColumns:
    """Columns that two tables both have, and the row ids that mean the same row.

    Args:
        pairs: columns of the first table with those of the second.
        first_new: the first row id that each table assigned on its own; None if row ids do not
            identify rows of both tables, so that rows are compared by content.
        ranges: ranges of equal rows: id in the first table, id in the second, count.
    """

    pairs: Sequence[tuple[Field, Field]]
    first_new: int | None = None
    ranges: Sequence[tuple[int, int, int]] = ()
