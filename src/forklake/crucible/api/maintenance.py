"""Routes that start maintenance of a catalog and list its runs."""

from __future__ import annotations

import asyncio

from anyio import to_thread
from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible import maintenance_runs
from forklake.crucible.callers import Asking, Visit
from forklake.crucible.maintenance_runs import Operation, Order
from forklake.crucible.shapes.base import Name
from forklake.crucible.shapes.history import Maintain, Run, Runs

router = APIRouter(prefix="/v1/catalogs/{catalog}/maintenance", tags=["maintenance"])


@router.get("/runs", summary="List maintenance runs", response_model=Runs)
def list_runs(visit: Asking, catalog: Name) -> Response:
    """List the maintenance runs requested since the service started, newest first."""
    found = visit.service.maintaining.runs(visit.catalog(catalog, "maintenance.list"))
    return Runs(runs=[_run_model(run) for run in found]).response()


@router.post("/{operation}", summary="Start maintenance", status_code=202, response_model=Run)
async def run(visit: Asking, catalog: Name, operation: Operation, body: Maintain) -> Response:
    """Start a maintenance run in the background.

    `expire` removes snapshots, `cleanup` deletes unused files, `merge` compacts small files,
    `flush` writes inlined rows to files, and `rewrite` removes deleted rows from files.
    """
    started = await to_thread.run_sync(_start_run, visit, catalog, operation, body)
    if body.wait_seconds:  # asynchronous: a waiting request does not occupy a thread
        await asyncio.wait([asyncio.wrap_future(started.over)], timeout=body.wait_seconds)
    return _run_model(started).response(202)


def _start_run(
    visit: Visit, catalog: str, operation: Operation, body: Maintain
) -> maintenance_runs.Run:
    found = visit.catalog(catalog, "maintenance.run")
    order = Order(operation, body.table, body.schema_name, body.older_than, body.dry_run)
    what = f"{catalog}.{operation}"
    with visit.access.audit.recording(visit.caller, "maintenance.run", what, catalog=found):
        return visit.service.maintaining.start(found, order)


def _run_model(run: maintenance_runs.Run) -> Run:
    return Run(
        run=run.run,
        operation=run.order.operation,
        state=run.state,
        started=run.started,
        ended=run.ended,
        count=run.count,
        unit=run.unit,
        error=run.error,
    )
