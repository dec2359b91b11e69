"""Row-level merge: rows that must be compared one by one, by the data engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from forklake.engines.relations import Relation
from forklake.engines.row_sets import RowSet
from forklake.engines.targets import Target
from forklake.errors import Unsupported
from forklake.merging.tables import TableSide
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.kinds import TABLE
from forklake.model.merge_outcomes import LISTED, RowConflict
from forklake.model.merge_rules import ChangeStatus, Verdict, row_pairs
from forklake.model.scans import ScanFile
from forklake.session.changing.row_matches import match_rows

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Numbers of rows by (change of the source, change of the target).

    `verdicts` are the ones that change the target.
    """

    pairs: Mapping[tuple[ChangeStatus, ChangeStatus], int] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()

    def count_taken(self, status: ChangeStatus) -> int:
        """Return the number of rows with this change in the source that the target takes over."""
        pairs = [pair for verdict in self.verdicts for pair in row_pairs(verdict)]
        return sum(self.pairs.get(pair, 0) for pair in pairs if pair[0] is status)

    @property
    def conflicts(self) -> int:
        """Number of rows that both sides changed."""
        return sum(self.pairs.get(pair, 0) for pair in row_pairs(Verdict.CONFLICT))


@dataclass(frozen=True)
class RowMerge:
    """Merge of the rows of one table that both sides may have changed.

    Args:
        adopts: whether files that hold only new rows become part of the target without rewriting.
        source_wins: whether the version of the source is used for rows that both sides changed.
    """

    session: Session
    source: TableSide
    target: TableSide
    adopts: bool
    source_wins: bool

    @cached_property
    def rows(self) -> Relation:
        """Rows that the source changed, with their ids and changes in the target."""
        return self.session.engine.forks.join_sides(
            self.source.changes(with_plain=not self.adopts),
            None if self.target.only_adds else self.target.changes(with_plain=False),
            self.target.next_row_id,
        )

    @property
    def _fields(self) -> tuple[Field, ...]:
        return self.source.side.now.state.fields(self.source.table)

    def counts(self, rows: Relation) -> RowCounts:
        """Count the rows by what each side did."""
        return RowCounts(self.session.engine.forks.count_pairs(rows), self._verdicts)

    def conflicts(self, rows: Relation) -> tuple[RowConflict, ...]:
        """Return the first rows that both sides changed."""
        found = self.session.engine.forks.first_conflicts(rows, self._fields, LISTED)
        return tuple(RowConflict(*row) for row in found)

    @property
    def _verdicts(self) -> list[Verdict]:
        """The verdicts that change rows of the target."""
        return [Verdict.TAKE, Verdict.CONFLICT] if self.source_wins else [Verdict.TAKE]

    def write(self, rows: Relation, change: UnitOfWork, counts: RowCounts) -> None:
        """Delete the old versions of changed rows in the target, and add the new versions."""
        transaction, engine = change.transaction, self.session.engine
        table = transaction.state.get(TABLE, (self.target.table_id,))
        assert isinstance(table, Table)
        if counts.count_taken(ChangeStatus.CHANGED) + counts.count_taken(ChangeStatus.REMOVED):
            found = match_rows(self.session, change, table, "target", None)
            engine.forks.end_old_versions(rows, self._verdicts, found)
        count = counts.count_taken(ChangeStatus.CHANGED) + counts.count_taken(ChangeStatus.ADDED)
        if count:
            target = Target(change.attachment, transaction.state, table)
            _require_same_inside(self._fields, target)
            engine.forks.add_new_versions(rows, self._verdicts, self._fields, target, change, count)


def rewrite_files(
    session: Session, source: TableSide, files: Sequence[ScanFile], change: UnitOfWork
) -> None:
    """Rewrite files of a table that only the source has, and keep the row ids."""
    target = Target(change.attachment, change.transaction.state, source.table)
    rows = RowSet(source.side.now, source.table, files)
    count = sum(one.live_rows for one in files)
    session.engine.forks.copy_rows(rows, target, change, count)


def _require_same_inside(fields: Sequence[Field], target: Target) -> None:
    """Raise Unsupported if fields inside a column differ between source and target."""
    source_fields = {one.column_id: one for one in fields}
    for one in target.fields:
        source_field = source_fields.get(one.column_id)
        if source_field is not None and not _same_inside(source_field, one):
            raise Unsupported(
                f"Cannot merge table '{target.table.table_name}': one side changed rows, and the"
                f" other side changed fields inside the column '{one.name}'.",
                remedy="Make the same change to the column in source and target, and merge again.",
            )


def _same_inside(one: Field, other: Field) -> bool:
    return len(one.fields) == len(other.fields) and all(
        mine.column_id == theirs.column_id
        and mine.name == theirs.name
        and _same_inside(mine, theirs)
        for mine, theirs in zip(one.fields, other.fields, strict=True)
    )
