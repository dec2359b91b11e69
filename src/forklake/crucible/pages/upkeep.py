"""Pages with the Delta mirrors of a catalog, and with its maintenance."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.maintenance_runs import MaintenanceRequest, Operation
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import open_frame
from forklake.crucible.pages.history import describe_snapshot
from forklake.crucible.pages.rendering import redirect, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor
from forklake.delta.overview import list_delta_tables
from forklake.model.changes import ChangeKind

routes = create_router()
_EXAMINED = 1000  # maximum number of snapshots searched for compactions
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
def show_mirrors(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the page with the Delta tables of the catalog and the progress of their mirrors."""
    frame = open_frame(visitor, catalog, "mirrors")
    return render(
        request, "mirrors.html", frame=frame, delta_tables=list_delta_tables(frame.catalog)
    )


@routes.get("/catalogs/{catalog}/maintenance")
def show_maintenance(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the page with runs, compaction commits, and files scheduled for deletion."""
    frame = open_frame(visitor, catalog, "maintenance")
    state = frame.catalog.now().state
    recent = frame.catalog.snapshots(limit=_EXAMINED)
    commits = [one for one in recent if any(change.kind in _COMPACTING for change in one.changes)]
    runs = service_of(request).maintenance_runs.runs(frame.catalog)
    return render(
        request,
        "maintenance.html",
        frame=frame,
        operations=OPERATIONS,
        runs=runs[:_EXAMINED],
        is_busy=any(run.ended is None for run in runs),
        commits=[describe_snapshot(one, state) for one in reversed(commits)],
        waiting=frame.catalog.scheduled_files(),
        snapshots=len(recent),
        most=_EXAMINED,
    )


@routes.post("/catalogs/{catalog}/maintenance/{operation}")
def start_run(
    request: Request, visitor: FormVisitor, catalog: str, operation: Operation
) -> Response:
    """Start a maintenance run."""
    frame = open_frame(visitor, catalog, "maintenance", "maintenance.run")
    what = f"{frame.name}.{operation}"
    with visitor.access.audit.recording(
        visitor.caller, "maintenance.run", what, catalog=frame.catalog
    ):
        service_of(request).maintenance_runs.start(frame.catalog, MaintenanceRequest(operation))
    return redirect(request, link("catalogs", frame.name, "maintenance"))
