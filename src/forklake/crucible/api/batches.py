"""Routes that create or drop many catalogs in one snapshot."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from forklake.crucible.api.catalogs import choose_data_path
from forklake.crucible.callers import Context
from forklake.crucible.shapes.catalogs import CreatedCatalogs, DropCatalogs, DropResult, NewCatalogs
from forklake.model.requests import CreateRequest

router = APIRouter(prefix="/v1/batch", tags=["catalogs"])


@router.post(
    "/create", summary="Create many catalogs", status_code=201, response_model=CreatedCatalogs
)
def create_catalogs(context: Context, body: NewCatalogs) -> Response:
    """Create the catalogs in one transaction: all of them, or none."""
    path = choose_data_path(context, body.data_path)
    request = CreateRequest(body.names, path, body.if_not_exists, body.lifetime)
    provided = context.access.catalogs.create(context.caller, request)
    context.service.metrics.created.inc(provided.created)
    return CreatedCatalogs.of(provided).to_response(201)


@router.post("/drop", summary="Drop many catalogs", response_model=DropResult)
def drop_catalogs(context: Context, body: DropCatalogs) -> Response:
    """Drop the catalogs in one transaction: all of them, or none.

    With `if_exists`, names that do not exist are ignored.
    """
    dropped = context.access.catalogs.drop(context.caller, body.names, if_exists=body.if_exists)
    context.service.metrics.dropped.inc(dropped)
    return DropResult(dropped=dropped).to_response()
