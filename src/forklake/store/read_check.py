"""Check whether concurrent commits have changed what a transaction has read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from forklake.model.changes import Change
from forklake.model.entities import InlinedRow
from forklake.model.ids import FOREVER, DataFileId, SnapshotId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, INLINED_DELETE, INLINED_TABLE
from forklake.model.plan import CommitPlan
from forklake.model.reads import (
    ALL_ROWS,
    Effect,
    ObjectReads,
    RowRead,
    find_effects,
    is_compacted,
    may_cover,
)
from forklake.store.database import Connection
from forklake.store.inlined import read_changed_rows
from forklake.store.operations import Statement
from forklake.store.pruning import narrow_files
from forklake.store.rows import Reader, decoded
from forklake.store.visibility import CHANGED, table_history


def find_broken_read(
    connection: Connection, plan: CommitPlan, since: Sequence[Change]
) -> Change | None:
    """Return a change committed since the start that a recorded read could have seen."""
    if not plan.reads:
        return None
    checked: set[int] = set()
    for change, effect in find_effects(plan.reads, since):
        if effect is Effect.BREAKS:
            return change
        assert change.object_id is not None
        if change.object_id in checked:
            continue
        checked.add(change.object_id)
        known = plan.reads.objects[change.object_id]
        if _covers_changes(connection, plan, change.object_id, known, since):
            return change
    return None


def _covers_changes(
    connection: Connection,
    plan: CommitPlan,
    table_id: int,
    known: ObjectReads,
    since: Sequence[Change],
) -> bool:
    """Return whether a read of a table may cover a row that was added or ended since the start."""
    if is_compacted(table_id, since):
        return True
    if any(read == RowRead() for read in known.rows):
        return True
    changed = _ChangedRows.find(connection, plan, table_id, known)
    return any(changed.may_be_covered(connection, read) for read in known.rows)


@dataclass(frozen=True, slots=True)
class _ChangedRows:
    """Data files and inlined rows of a table that were changed since the start."""

    parameters: dict[str, int]
    known: ObjectReads
    added_files: Collection[DataFileId]
    changed_files: Collection[DataFileId]
    rows: Sequence[tuple[InlinedRow, SnapshotId | None]]

    @classmethod
    def find(
        cls, connection: Connection, plan: CommitPlan, table_id: int, known: ObjectReads
    ) -> _ChangedRows:
        """Query the changed files and rows."""
        parameters = {
            "catalog": plan.catalog_id,
            "snapshot": FOREVER,
            "scope": table_id,
            "start": plan.start + 1,
        }
        columns = ("data_file_id", "begin_snapshot")
        texts = [
            table_history(kind, connection.dialect, columns, where=CHANGED)
            for kind in (DATA_FILE, DELETE_FILE, INLINED_DELETE)
        ]
        reader = Reader(connection, plan.catalog_id, SnapshotId(FOREVER), inherits=plan.inherits)
        files, *deletes, tables = connection.run(
            [
                *(Statement(text, parameters) for text in texts),
                reader.statement(INLINED_TABLE, scope=table_id),
            ]
        )
        changed = {row[0] for rows in (files, *deletes) for row in rows}
        return cls(
            parameters,
            known,
            added_files={number for number, begin, _ in files if begin > plan.start},
            changed_files=changed,
            rows=read_changed_rows(
                connection, parameters, decoded(INLINED_TABLE, tables), known.fields
            ),
        )

    def may_be_covered(self, connection: Connection, read: RowRead) -> bool:
        """Return whether one of them may be among the rows of a read."""
        files = self.added_files if read.ignores_removals else self.changed_files
        if files and (
            read.rows == ALL_ROWS
            or narrow_files(connection, self.parameters, sorted(files), read.rows)
        ):
            return True
        fields = {one.column_id: one for one in self.known.fields}
        return any(
            may_cover(read.rows, row, fields)
            for row, _ in self.rows
            if not read.ignores_removals or row.begin_snapshot >= self.parameters["start"]
        )
