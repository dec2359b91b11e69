"""Timeline of a catalog's snapshots, newest first, with a description of their changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.formatting import day
from forklake.crucible.pages.frames import open_frame
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor
from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import FOREVER
from forklake.model.kinds import SCHEMA, TABLE, VIEW
from forklake.model.snapshots import Snapshot
from forklake.model.state import CatalogState

routes = create_router()
_PAGE = 50
# Description of each kind of change, followed by the name of the changed object.
WORDS: dict[ChangeKind, str] = {
    ChangeKind.DROPPED_SCHEMA: "dropped schema",
    ChangeKind.DROPPED_TABLE: "dropped table",
    ChangeKind.DROPPED_VIEW: "dropped view",
    ChangeKind.CREATED_SCHEMA: "created schema",
    ChangeKind.ALTERED_SCHEMA: "changed schema",
    ChangeKind.CREATED_TABLE: "created table",
    ChangeKind.CREATED_VIEW: "created view",
    ChangeKind.CREATED_SCALAR_MACRO: "created macro",
    ChangeKind.CREATED_TABLE_MACRO: "created table macro",
    ChangeKind.DROPPED_SCALAR_MACRO: "dropped macro",
    ChangeKind.DROPPED_TABLE_MACRO: "dropped table macro",
    ChangeKind.INSERTED: "inserted into",
    ChangeKind.DELETED: "deleted from",
    ChangeKind.ALTERED_TABLE: "changed table",
    ChangeKind.ALTERED_VIEW: "changed view",
    ChangeKind.INLINED_INSERT: "inserted a few rows into",
    ChangeKind.INLINED_DELETE: "deleted a few rows from",
    ChangeKind.FLUSHED: "flushed rows of",
    ChangeKind.MERGED: "compacted files of",
    ChangeKind.REWRITTEN: "rewrote files of",
    ChangeKind.FORKED: "forked",
    ChangeKind.MATERIALIZED: "materialized",
    ChangeKind.MERGED_FROM: "merged a fork",
}

_OF_CATALOGS = frozenset({ChangeKind.FORKED, ChangeKind.MATERIALIZED, ChangeKind.MERGED_FROM})


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """Snapshot with a description of its changes. `is_inherited` if an ancestor committed it."""

    snapshot: Snapshot
    changes: list[tuple[str, str]]
    is_inherited: bool

    @property
    def is_fork(self) -> bool:
        """Whether this snapshot created the catalog as a fork."""
        return any(one.kind is ChangeKind.FORKED for one in self.snapshot.changes)


@routes.get("/catalogs/{catalog}/snapshots")
def show_snapshots(
    request: Request,
    visitor: CurrentVisitor,
    catalog: str,
    before: Annotated[int | None, Query(ge=0, le=FOREVER)] = None,
) -> Response:
    """Return the page with the newest snapshots by day, or those before a given one."""
    frame = open_frame(visitor, catalog, "snapshots")
    found = frame.catalog.snapshots(before=before, limit=_PAGE + 1)
    state = frame.catalog.now().state
    shown = [describe_snapshot(one, state) for one in reversed(found[-_PAGE:])]
    days = groupby(shown, lambda one: day(one.snapshot.snapshot_time))
    return render(
        request,
        "snapshots.html",
        frame=frame,
        days=[(name, list(some)) for name, some in days],
        before=before,
        older=shown[-1].snapshot.snapshot_id if len(found) > _PAGE else None,
    )


def describe_snapshot(snapshot: Snapshot, state: CatalogState) -> SnapshotEntry:
    """Describe a snapshot, with the current names of the changed objects."""
    changes = [(WORDS[one.kind], _name_subject(one, state)) for one in snapshot.changes]
    return SnapshotEntry(snapshot, changes, snapshot.catalog_id != state.catalog_id)


def _name_subject(change: Change, state: CatalogState) -> str:
    """Return the name of the changed object, or its id if it no longer exists."""
    if change.name:
        return ".".join(change.name)
    if change.object_id is None or change.kind in _OF_CATALOGS:
        return ""
    for kind, column in ((TABLE, "table_name"), (VIEW, "view_name"), (SCHEMA, "schema_name")):
        row = state.get(kind, (change.object_id,))
        if row is not None:
            return str(getattr(row, column))
    return f"#{change.object_id}"
