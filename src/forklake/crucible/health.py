"""Health, readiness and metrics for operators. These routes need no credential."""

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
_PATIENCE = 3.0  # seconds that the database has to respond
TheService = Annotated[Service, Depends(service_of)]


class Health(BaseModel):
    """Status of the service: alive, or ready for requests."""

    status: Literal["live", "ready"]


@router.get("/health/live", summary="Check that the process responds")
async def check_live() -> Health:
    """Return `live`, independent of the state of the metadata database."""
    return Health(status="live")


@router.get("/health/ready", summary="Check that the service accepts requests")
async def check_ready(service: TheService) -> Health:
    """Return `ready` if the metadata database responds and the service is not shutting down."""
    try:
        with fail_after(_PATIENCE):
            await to_thread.run_sync(
                service.check_ready, abandon_on_cancel=True, limiter=service.probes
            )
    except TimeoutError:
        raise Unavailable(
            "The metadata database does not respond.",
            remedy="Check the database, and the network connection to it.",
        ) from None
    return Health(status="ready")


@router.get("/metrics", summary="Get Prometheus metrics", response_class=Response)
def get_metrics(service: TheService) -> Response:
    """Return counts and durations by route and status. No label names a catalog or principal."""
    return Response(service.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")
