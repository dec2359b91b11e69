"""What became of a catalog: its snapshots, its storage, its mirrors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.crucible.callers import Asking
from forklake.crucible.shapes.base import MAX_NUMBER, Limit, Name
from forklake.crucible.shapes.history import Mirror, Mirrors, Snapshot, Snapshots, Storage
from forklake.delta.overview import standings

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["history"])


@router.get("/snapshots", summary="List snapshots", response_model=Snapshots)
def list_snapshots(
    visit: Asking,
    catalog: Name,
    before: Annotated[
        int | None, Query(ge=0, le=MAX_NUMBER, description="Only older ones than this.")
    ] = None,
    limit: Limit = 100,
) -> Response:
    """The newest ones, oldest first: also what happened before the catalog was forked off."""
    rows = visit.catalog(catalog, "snapshot.list").snapshots(before=before, limit=limit + 1)
    found = [Snapshot.of(one) for one in rows[-limit:]]
    more = found[0].snapshot_id if len(rows) > limit else None
    return Snapshots(snapshots=found, next=more).response()


@router.get("/storage", summary="What its files take", response_model=Storage)
def storage(visit: Asking, catalog: Name) -> Response:
    """Bytes of its own, bytes that others see too, and bytes that go if it is dropped."""
    visit.catalog(catalog, "storage.get")
    (found,) = visit.access.metastore.storage([catalog])
    return Storage.of(found).response()


@router.get("/mirrors", summary="Its Delta tables", response_model=Mirrors)
def mirrors(visit: Asking, catalog: Name) -> Response:
    """Where they are and how far their mirrors have got."""
    found = standings(visit.catalog(catalog, "mirror.list"))
    return Mirrors(mirrors=[Mirror.of(one) for one in found]).response()
