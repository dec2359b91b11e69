"""Files that a merge of catalogs takes over from the source by id, and the record of merges.

A file keeps its id and its path, whichever catalogs have rows of it, and is deleted with the last
of these rows. So the sweep must not run while rows of another catalog are copied, and a file that
was swept before cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forklake.errors import Conflict
from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import CatalogId, SnapshotId, TableId
from forklake.model.merges import WHOLE_CATALOG, Merge, MergeNote
from forklake.model.plan import CommitPlan
from forklake.store.database import Connection, Lock
from forklake.store.operations import Insert, Statement, Values
from forklake.store.schema.catalog_tables import CATALOG_MERGE
from forklake.store.table_cache import known_numbers

_NAME = "ducklake_catalog_merge"
_COLUMNS = CATALOG_MERGE.column_names
# Changes to the rows of a table, as opposed to definitions.
_OF_ROWS = frozenset(
    {
        ChangeKind.INSERTED,
        ChangeKind.DELETED,
        ChangeKind.INLINED_INSERT,
        ChangeKind.INLINED_DELETE,
        ChangeKind.FLUSHED,
        ChangeKind.MERGED,
        ChangeKind.REWRITTEN,
        ChangeKind.MERGED_FROM,
    }
)
# First row id in the source, number of rows, first row id in the target.
Moved = tuple[int, int, int]


def merges_between(connection: Connection, one: CatalogId, other: CatalogId) -> list[Merge]:
    """Return all merges between two catalogs, in either direction, oldest first."""
    rows = connection.fetch(
        f"SELECT {', '.join(_COLUMNS)} FROM {_NAME}"
        " WHERE (catalog_id = :one AND source_catalog_id = :other)"
        " OR (catalog_id = :other AND source_catalog_id = :one) ORDER BY snapshot_id",
        one=one,
        other=other,
    )
    return [Merge(*row) for row in rows]


def merge_insert(
    catalog_id: CatalogId, snapshot: SnapshotId, note: MergeNote, moved: Mapping[TableId, Moved]
) -> Insert:
    """Return the operation that records a merge."""
    looked_at = dict.fromkeys(note.tables or (WHOLE_CATALOG,), (0, 0, 0)) | dict(moved)
    rows: list[Values] = [
        (catalog_id, snapshot, note.source_id, note.source_snapshot, table_id, *numbers)
        for table_id, numbers in looked_at.items()
    ]
    return Insert(_NAME, _COLUMNS, rows)


def _is_elsewhere(change: Change, plan: CommitPlan) -> bool:
    """Return whether a change affects only rows of a table that the merge does not touch."""
    is_of_rows = change.kind in _OF_ROWS and not plan.changes_definitions
    return is_of_rows and change.object_id not in plan.tables


def forgetting_merges(connection: Connection, catalogs: object) -> list[Statement]:
    """Return the statements that delete the recorded merges and the holds of dropped catalogs."""
    dialect = connection.dialect
    given = {"catalogs": catalogs}
    among = dialect.any_of("catalog_id", "catalogs")
    come = dialect.any_of("source_catalog_id", "catalogs")
    return [
        Statement(f"DELETE FROM {_NAME} WHERE {among} OR {come}", given),
        Statement(f"DELETE FROM ducklake_catalog_hold WHERE {among}", given),
    ]


def require_mergeable(connection: Connection, plan: CommitPlan, since: Sequence[Change]) -> None:
    """Raise Conflict if files of a merge are gone, or if others changed what it was based on."""
    if plan.merge is None:
        return
    if not plan.merge.only_appends and not all(_is_elsewhere(one, plan) for one in since):
        raise Conflict(
            "The target of the merge has changed: it was committed to after snapshot"
            f" {plan.start}, on which the merge is based.",
            remedy="Merge again.",
        )
    adopted = {
        number
        for work in plan.tables.values()
        for number, _ in (*work.data_files, *work.delete_files)
        if number >= 0
    }
    connection.run(connection.lock(Lock.SWEEP, shared=True))
    if adopted - known_numbers(connection, sorted(adopted)):
        raise Conflict(
            "Files that the merge was to take over no longer exist: their catalog was dropped or"
            " compacted, and its snapshots expired.",
            remedy="Merge again.",
        )
