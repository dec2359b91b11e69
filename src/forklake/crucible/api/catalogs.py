"""Routes for catalogs: list, create, get, change, materialize, drop."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.catalog.catalog import Catalog as StoredCatalog
from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.shapes.base import Limit, Name, empty_response
from forklake.crucible.shapes.catalogs import (
    Catalog,
    CatalogDetails,
    CatalogPage,
    ChangeCatalog,
    MaterializeResult,
    NewCatalog,
)
from forklake.errors import Forbidden
from forklake.model.requests import CreateRequest

router = APIRouter(prefix="/v1/catalogs", tags=["catalogs"])


@router.get("", summary="List catalogs", response_model=CatalogPage)
def list_catalogs(
    context: Context,
    prefix: Annotated[
        str, Query(max_length=255, description="Return only names with this prefix.")
    ] = "",
    after: Annotated[
        str, Query(max_length=255, description="Return the catalogs that follow this name.")
    ] = "",
    limit: Limit = 100,
) -> Response:
    """List the catalogs that the caller can read, ordered by name."""
    rows = context.access.visible.catalogs(context.caller, prefix=prefix, after=after, limit=limit)
    return CatalogPage.of(rows, limit).to_response()


@router.post("", summary="Create a catalog", status_code=201, response_model=Catalog)
def create_catalog(context: Context, body: NewCatalog) -> Response:
    """Create an empty catalog with the schema `main`. The caller becomes its owner."""
    path = choose_data_path(context, body.data_path)
    request = CreateRequest([body.name], path, body.if_not_exists, body.lifetime)
    (row,), created = context.access.catalogs.create(context.caller, request)
    context.service.metrics.created.inc(created)
    return Catalog.of(row).to_response(201)


def choose_data_path(context: RequestContext, requested: str | None) -> str | None:
    """Return the data path of a new catalog. Raise Forbidden unless a root chose it."""
    if requested is not None and not context.caller.is_root:
        raise Forbidden(
            "Only a root principal can set data_path.",
            remedy="Omit data_path to use the path configured for the service.",
        )
    return requested or context.service.settings.data_path


@router.get("/{catalog}", summary="Get a catalog", response_model=CatalogDetails)
def get_catalog(context: Context, catalog: Name) -> Response:
    """Return a catalog with its parent and expiry."""
    return _in_full(context, context.catalog(catalog, "catalog.get"))


def _in_full(context: RequestContext, found: StoredCatalog) -> Response:
    return CatalogDetails(
        **Catalog.of(found.row).model_dump(),
        parent=context.access.visible.parent(context.caller, found.row),
        expires_at=found.expires_at(),
    ).to_response()


@router.patch(
    "/{catalog}", summary="Rename a catalog or change its expiry", response_model=CatalogDetails
)
def change_catalog(context: Context, catalog: Name, body: ChangeCatalog) -> Response:
    """Change the name, the expiry, or both. The data folder and contents stay the same."""
    if body.sets_lifetime:
        _set_expiry(context, catalog, body)
    if body.name is None:
        return get_catalog(context, catalog)
    return _in_full(context, context.access.catalogs.rename(context.caller, catalog, body.name))


def _set_expiry(context: RequestContext, name: str, body: ChangeCatalog) -> None:
    catalog = context.catalog(name, "catalog.extend")
    with context.access.audit.recording(context.caller, "catalog.extend", name, catalog=catalog):
        catalog.extend(body.lifetime)


@router.delete("/{catalog}", summary="Drop a catalog", status_code=204)
def drop_catalog(context: Context, catalog: Name, if_exists: bool = False) -> Response:
    """Drop a catalog. Its forks are not affected."""
    dropped = context.access.catalogs.drop(context.caller, [catalog], if_exists=if_exists)
    context.service.metrics.dropped.inc(dropped)
    return empty_response()


@router.post(
    "/{catalog}/materialize", summary="Materialize a fork", response_model=MaterializeResult
)
def materialize_catalog(context: Context, catalog: Name) -> Response:
    """Copy the metadata rows that a fork inherits into the fork, and detach it from its ancestors.

    What queries return does not change, and no data files are copied.
    """
    found = context.catalog(catalog, "catalog.materialize")
    with context.access.audit.recording(
        context.caller, "catalog.materialize", catalog, catalog=found
    ):
        snapshot = context.access.metastore.materialize(catalog)
    return MaterializeResult(snapshot=snapshot).to_response()
