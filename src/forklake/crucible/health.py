"""Health, readiness and metrics: for those who run the service; they need no credential."""

from __future__ import annotations

from typing import Annotated, Literal

from anyio import fail_after, to_thread
from fastapi import APIRouter, Depends
from pydantic import BaseModel
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.service import Service
from forklake.errors import Unavailable

router = APIRouter(tags=["operations"])
_PATIENCE = 3.0  # seconds that a database has to answer
TheService = Annotated[Service, Depends(service_of)]


class Health(BaseModel):
    """Whether the service lives, or takes requests."""

    status: Literal["live", "ready"]


@router.get("/health/live", summary="Whether the process answers")
async def live() -> Health:
    """It says so whatever becomes of the metadata database."""
    return Health(status="live")


@router.get("/health/ready", summary="Whether requests are taken")
async def ready(service: TheService) -> Health:
    """It asks the metadata database; while the service ends, it is not ready any more."""
    try:
        with fail_after(_PATIENCE):
            await to_thread.run_sync(
                service.check_ready, abandon_on_cancel=True, limiter=service.probes
            )
    except TimeoutError:
        raise Unavailable("The metadata database does not answer.", remedy="Look at it.") from None
    return Health(status="ready")


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
def metrics(service: TheService) -> Response:
    """Counts and times by route and status; no names of catalogs or people."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
