"""Merge of the data of one table: compute the changes, then apply them.

Files that hold only new rows become part of the target without rewriting, and so do the files of
tables that only the source has. All other changes are rows that the engine compares and writes.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from forklake.catalog.adoptable import adoptable_files
from forklake.catalog.delta_tables import find_face
from forklake.engines.relations import Relation
from forklake.merging.sides import Side
from forklake.merging.tables import TableSide
from forklake.model.entities import Table
from forklake.model.ids import TableId
from forklake.model.inlined_values import initial_value
from forklake.model.kinds import TABLE
from forklake.model.merge_outcomes import TableMerge
from forklake.model.merge_rules import ChangeStatus
from forklake.model.merges import AdoptedFile, RowIds
from forklake.model.requests import Choice
from forklake.session.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from forklake.merging.rows import RowCounts, RowMerge
    from forklake.session.session import Session

# For rows that both sides changed: fail, use the version of the target, or of the source.


def qualified_name(side: Side, table_id: TableId) -> str:
    """Return the name of a table with its schema."""
    state = side.now.state
    table = state.get(TABLE, (table_id,))
    assert isinstance(table, Table)
    return f"{state.schema_of(table).schema_name}.{table.table_name}"


class SharedTable:
    """Merge of a table that both sides have."""

    def __init__(
        self, session: Session, source: TableSide, target: TableSide, choice: Choice
    ) -> None:
        self._session = session
        self._source = source
        self._target = target
        self._choice = choice
        self._name = qualified_name(source.side, source.table_id)
        self._counts: RowCounts | None = None
        self._rows: Relation | None = None
        self._merge: RowMerge | None = None
        self.outcome = TableMerge(self._name)

    @property
    def only_adds(self) -> bool:
        """Whether the merge only adds files and inlined rows without rewriting."""
        return self._source.only_adds and self._adopts

    @property
    def _adopts(self) -> bool:
        """Whether files can become part of the target without rewriting.

        Its columns must have the types that the files were written with. A Delta table cannot
        adopt files: its log records paths below its own folder.
        """
        has_face = find_face(self._target.side.now.state, self._target.table) is not None
        return not (has_face or self._source.has_new_types or self._target.has_new_types)

    @property
    def is_stopped(self) -> bool:
        """Whether there are conflicts and `on_conflict` does not decide them."""
        return bool(self.outcome.conflict_count) and self._choice == "fail"

    def evaluate(self, stack: ExitStack) -> TableMerge:
        """Compute the changes and conflicts. `stack` releases the cached rows."""
        files = self._adoptable_files()
        new = sum(one.rows for one in files) + (len(self._source.new_rows) if self._adopts else 0)
        self.outcome = TableMerge(self._name, new, len(files))
        if not self.only_adds:
            self._compare_rows(stack)
        return self.outcome

    def _compare_rows(self, stack: ExitStack) -> None:
        from forklake.merging.rows import RowMerge

        wins = self._choice == "theirs"
        self._merge = RowMerge(self._session, self._source, self._target, self._adopts, wins)
        self._rows = stack.enter_context(self._session.engine.relations.keep(self._merge.rows))
        self._counts = counts = self._merge.counts(self._rows)
        self.outcome = replace(
            self.outcome,
            appended_rows=self.outcome.appended_rows + counts.count_taken(ChangeStatus.ADDED),
            updated=counts.count_taken(ChangeStatus.CHANGED),
            deleted=counts.count_taken(ChangeStatus.REMOVED),
            conflict_count=counts.conflicts,
            conflicts=self._merge.conflicts(self._rows) if counts.conflicts else (),
        )

    def _adoptable_files(self) -> list[AdoptedFile]:
        if not self._adopts:
            return []
        side = self._source.side
        target = self._target.side.catalog
        return adoptable_files(side.now, self._source.table, self._source.plain_files, target)

    def write(self, change: UnitOfWork) -> None:
        """Apply the changes as part of `change`."""
        transaction = change.transaction
        if self._merge is not None and self._rows is not None and self._counts is not None:
            self._merge.write(self._rows, change, self._counts)
        table = transaction.state.get(TABLE, (self._source.table_id,))
        assert isinstance(table, Table)
        first = self._source.first_new
        if self._source.next_row_id > first:
            transaction.reserve_row_ids(table, RowIds(first, self._source.next_row_id - first))
        if self._adopts:
            transaction.adopt_files(table, self._adoptable_files(), first)
            fields = transaction.state.fields(table)
            rows = (
                (row.row_id, {one.column_id: initial_value(one) for one in fields} | row.values)
                for row in self._source.new_rows
            )
            transaction.adopt_rows(table, rows, first)


class NewTable:
    """Copy of a table that only the source has.

    Its files are adopted without rewriting, except for files that compaction wrote: their rows
    store snapshot ids of the source, which mean nothing in the history of the target.
    """

    def __init__(self, session: Session, source: TableSide, target: Side) -> None:
        self._session = session
        self._source = source
        view, table = source.side.now, source.table
        self._moved = source.moved_files
        moved = {one.file.data_file_id for one in self._moved}
        kept = [one for number, one in source.now.files.items() if number not in moved]
        self._files = adoptable_files(view, table, kept, target.catalog)
        self._rows = source.now.rows.values()
        rewritten = sum(one.live_rows for one in self._moved)
        self.outcome = TableMerge(
            qualified_name(source.side, source.table_id),
            sum(one.rows for one in self._files) + len(self._rows) + rewritten,
            len(self._files),
        )

    def write(self, change: UnitOfWork) -> None:
        """Apply the changes as part of `change`."""
        transaction, table = change.transaction, self._source.table
        transaction.reserve_row_ids(table, RowIds(0, self._source.next_row_id))
        transaction.adopt_files(table, self._files, 0)
        transaction.adopt_rows(table, ((row.row_id, row.values) for row in self._rows), 0)
        if self._moved:
            from forklake.merging.rows import rewrite_files

            rewrite_files(self._session, self._source, self._moved, change)
