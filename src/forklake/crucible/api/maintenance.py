"""Routes that start maintenance of a catalog and list its runs."""

from __future__ import annotations

import asyncio

from anyio import to_thread
from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible import maintenance_runs
from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.maintenance_runs import MaintenanceRequest, Operation
from forklake.crucible.shapes.base import Name
from forklake.crucible.shapes.history import NewRun, RunInfo, RunList

router = APIRouter(prefix="/v1/catalogs/{catalog}/maintenance", tags=["maintenance"])


@router.get("/runs", summary="List maintenance runs", response_model=RunList)
def list_runs(context: Context, catalog: Name) -> Response:
    """List the maintenance runs requested since the service started, newest first."""
    found = context.service.maintenance_runs.runs(context.catalog(catalog, "maintenance.list"))
    return RunList(runs=[_describe_run(run) for run in found]).to_response()


@router.post("/{operation}", summary="Start maintenance", status_code=202, response_model=RunInfo)
async def start_run(
    context: Context, catalog: Name, operation: Operation, body: NewRun
) -> Response:
    """Start a maintenance run in the background.

    `expire` removes snapshots, `cleanup` deletes unused files, `merge` compacts small files,
    `flush` writes inlined rows to files, and `rewrite` removes deleted rows from files.
    """
    started = await to_thread.run_sync(_start_run, context, catalog, operation, body)
    if body.wait_seconds:  # asynchronous: a waiting request does not occupy a thread
        await asyncio.wait([asyncio.wrap_future(started.finished)], timeout=body.wait_seconds)
    return _describe_run(started).to_response(202)


def _start_run(
    context: RequestContext, catalog: str, operation: Operation, body: NewRun
) -> maintenance_runs.MaintenanceRun:
    found = context.catalog(catalog, "maintenance.run")
    request = MaintenanceRequest(
        operation, body.table, body.schema_name, body.older_than, body.dry_run
    )
    what = f"{catalog}.{operation}"
    with context.access.audit.recording(context.caller, "maintenance.run", what, catalog=found):
        return context.service.maintenance_runs.start(found, request)


def _describe_run(run: maintenance_runs.MaintenanceRun) -> RunInfo:
    return RunInfo(
        run=run.run,
        operation=run.request.operation,
        state=run.state,
        started=run.started,
        ended=run.ended,
        count=run.count,
        unit=run.unit,
        error=run.error,
    )
