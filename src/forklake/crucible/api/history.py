"""Routes for the snapshots, storage use and Delta mirrors of a catalog."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.crucible.callers import Context
from forklake.crucible.shapes.base import MAX_NUMBER, Limit, Name
from forklake.crucible.shapes.history import Mirror, Mirrors, Snapshot, Snapshots, Storage
from forklake.delta.overview import list_delta_tables

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["history"])


@router.get("/snapshots", summary="List snapshots", response_model=Snapshots)
def list_snapshots(
    context: Context,
    catalog: Name,
    before: Annotated[
        int | None, Query(ge=0, le=MAX_NUMBER, description="Return snapshots before this one.")
    ] = None,
    limit: Limit = 100,
) -> Response:
    """Return the newest snapshots, oldest first, including the inherited ones of a fork."""
    rows = context.catalog(catalog, "snapshot.list").snapshots(before=before, limit=limit + 1)
    found = [Snapshot.of(one) for one in rows[-limit:]]
    more = found[0].snapshot_id if len(rows) > limit else None
    return Snapshots(snapshots=found, next=more).to_response()


@router.get("/storage", summary="Get storage use", response_model=Storage)
def get_storage_use(context: Context, catalog: Name) -> Response:
    """Return the private and shared bytes of a catalog, and the bytes that dropping it frees."""
    context.catalog(catalog, "storage.get")
    (found,) = context.access.metastore.storage([catalog])
    return Storage.of(found).to_response()


@router.get("/mirrors", summary="List Delta mirrors", response_model=Mirrors)
def list_mirrors(context: Context, catalog: Name) -> Response:
    """Return the Delta tables of a catalog with their locations and mirrored versions."""
    found = list_delta_tables(context.catalog(catalog, "mirror.list"))
    return Mirrors(mirrors=[Mirror.of(one) for one in found]).to_response()
