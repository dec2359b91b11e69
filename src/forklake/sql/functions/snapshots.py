"""SQL functions for the history of a catalog: its snapshots and commit messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from forklake.model.changes import Change, ChangeKind
from forklake.model.names import quoted
from forklake.model.snapshots import Snapshot

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session

# The key under which `changes` lists each kind of change.
_CHANGE_KEYS = {
    ChangeKind.CREATED_SCHEMA: "schemas_created",
    ChangeKind.DROPPED_SCHEMA: "schemas_dropped",
    ChangeKind.ALTERED_SCHEMA: "schemas_altered",
    ChangeKind.CREATED_TABLE: "tables_created",
    ChangeKind.CREATED_VIEW: "views_created",
    ChangeKind.CREATED_SCALAR_MACRO: "scalar_macros_created",
    ChangeKind.CREATED_TABLE_MACRO: "table_macros_created",
    ChangeKind.DROPPED_TABLE: "tables_dropped",
    ChangeKind.ALTERED_TABLE: "tables_altered",
    ChangeKind.INSERTED: "tables_inserted_into",
    ChangeKind.DELETED: "tables_deleted_from",
    ChangeKind.DROPPED_VIEW: "views_dropped",
    ChangeKind.DROPPED_SCALAR_MACRO: "scalar_macros_dropped",
    ChangeKind.DROPPED_TABLE_MACRO: "table_macros_dropped",
    ChangeKind.ALTERED_VIEW: "views_altered",
    ChangeKind.INLINED_INSERT: "inlined_insert",
    ChangeKind.INLINED_DELETE: "inlined_delete",
    ChangeKind.FLUSHED: "flushed_inlined",
    ChangeKind.MERGED: "merge_adjacent",
    ChangeKind.REWRITTEN: "rewrite_delete",
    ChangeKind.FORKED: "forked_from",
    ChangeKind.MATERIALIZED: "materialized",
    ChangeKind.MERGED_FROM: "merged_from",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def list_snapshots(session: Session, catalog: Attachment) -> Iterator[tuple[Any, ...]]:
    """Yield all snapshots with their changes, oldest first."""
    return (snapshot_row(one) for one in catalog.catalog.snapshots())


def snapshot_row(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return a snapshot as a row of the functions."""
    changes: dict[str, list[str]] = {}
    for change in snapshot.changes:
        changes.setdefault(_CHANGE_KEYS[change.kind], []).append(_changed_object(change))
    return (
        snapshot.snapshot_id,
        snapshot.snapshot_time,
        snapshot.schema_version,
        list(changes.items()),
        snapshot.author,
        snapshot.commit_message,
        snapshot.commit_extra_info,
    )


def _changed_object(change: Change) -> str:
    if not change.name:
        return str(change.object_id)
    return ".".join(part if _PLAIN_NAME.fullmatch(part) else quoted(part) for part in change.name)


def current_snapshot(session: Session, catalog: Attachment) -> list[tuple[int]]:
    """Return the snapshot that this session reads: in a transaction, the one at its begin."""
    return [(session.viewing(catalog).state.snapshot_id,)]


def last_committed_snapshot(session: Session, catalog: Attachment) -> list[tuple[int | None]]:
    """Return the newest snapshot that this session committed."""
    return [(session.last_committed_snapshot(catalog),)]


def set_commit_message(
    session: Session,
    catalog: Attachment,
    author: str | None,
    commit_message: str | None,
    extra_info: str | None = None,
) -> list[tuple[bool]]:
    """Set author and message of the open transaction, or else of the next commit."""
    catalog.require_writable()
    session.set_commit_message(author, commit_message, extra_info)
    return [(True,)]
