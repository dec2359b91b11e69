"""Pages with the Delta mirrors of a catalog, and with its maintenance."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.maintenance_runs import Operation, Order
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import framed
from forklake.crucible.pages.history import told
from forklake.crucible.pages.rendering import go, render
from forklake.crucible.pages.routing import router
from forklake.crucible.pages.visitors import Looking, Sending
from forklake.delta.overview import standings
from forklake.model.changes import ChangeKind

routes = router()
_LOOKED_AT = 1000  # maximum number of snapshots searched for compactions
_COMPACTING = frozenset({ChangeKind.MERGED, ChangeKind.REWRITTEN, ChangeKind.FLUSHED})
# Labels of the maintenance operations.
OPERATIONS = {
    Operation.EXPIRE: "Expire snapshots",
    Operation.MERGE: "Compact small files",
    Operation.REWRITE: "Rewrite files with deletes",
    Operation.FLUSH: "Flush inlined rows",
    Operation.CLEANUP: "Clean up files",
}


@routes.get("/catalogs/{catalog}/mirrors")
def mirrors(request: Request, visitor: Looking, catalog: str) -> Response:
    """Return the page with the Delta tables of the catalog and the progress of their mirrors."""
    frame = framed(visitor, catalog, "mirrors")
    return render(request, "mirrors.html", frame=frame, standings=standings(frame.catalog))


@routes.get("/catalogs/{catalog}/maintenance")
def maintenance(request: Request, visitor: Looking, catalog: str) -> Response:
    """Return the page with runs, compaction commits, and files scheduled for deletion."""
    frame = framed(visitor, catalog, "maintenance")
    state = frame.catalog.now().state
    recent = frame.catalog.snapshots(limit=_LOOKED_AT)
    commits = [one for one in recent if any(change.kind in _COMPACTING for change in one.changes)]
    runs = service_of(request).maintaining.runs(frame.catalog)
    return render(
        request,
        "maintenance.html",
        frame=frame,
        operations=OPERATIONS,
        runs=runs[:_LOOKED_AT],
        is_busy=any(run.ended is None for run in runs),
        commits=[told(one, state) for one in reversed(commits)],
        waiting=frame.catalog.scheduled_files(),
        snapshots=len(recent),
        most=_LOOKED_AT,
    )


@routes.post("/catalogs/{catalog}/maintenance/{operation}")
def run(request: Request, visitor: Sending, catalog: str, operation: Operation) -> Response:
    """Start a maintenance run."""
    frame = framed(visitor, catalog, "maintenance", "maintenance.run")
    what = f"{frame.name}.{operation}"
    with visitor.access.audit.recording(
        visitor.caller, "maintenance.run", what, catalog=frame.catalog
    ):
        service_of(request).maintaining.start(frame.catalog, Order(operation))
    return go(request, link("catalogs", frame.name, "maintenance"))
