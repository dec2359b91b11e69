"""Catalogs: list, create, look, rename, drop."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from forklake.crucible.callers import Asking, Visit
from forklake.crucible.shapes.base import Limit, Name, nothing
from forklake.crucible.shapes.catalogs import (
    Catalog,
    CatalogInFull,
    CatalogPage,
    ChangeCatalog,
    Materialized,
    NewCatalog,
)
from forklake.errors import Forbidden

router = APIRouter(prefix="/v1/catalogs", tags=["catalogs"])


@router.get("", summary="List catalogs by name", response_model=CatalogPage)
def list_catalogs(
    visit: Asking,
    prefix: Annotated[str, Query(max_length=255, description="Names begin with it.")] = "",
    after: Annotated[str, Query(max_length=255, description="Go on after this name.")] = "",
    limit: Limit = 100,
) -> Response:
    """Those that the caller may read, page by page."""
    rows = visit.access.visible(visit.caller, prefix=prefix, after=after, limit=limit)
    return CatalogPage.of(rows, limit).response()


@router.post("", summary="Create a catalog", status_code=201, response_model=Catalog)
def create_catalog(visit: Asking, body: NewCatalog) -> Response:
    """An empty one with the schema `main`; the caller becomes its owner."""
    rows = visit.access.create(
        visit.caller,
        [body.name],
        data_path=data_path_of(visit, body.data_path),
        if_not_exists=body.if_not_exists,
        ttl=body.lifetime,
    )
    visit.service.metrics.created.inc()
    return Catalog.of(rows[0]).response(201)


def data_path_of(visit: Visit, wanted: str | None) -> str | None:
    """Where the files of a new catalog go: only a root may say so."""
    if wanted is not None and not visit.caller.is_root:
        raise Forbidden(
            "Only a root says where the files of a catalog go.", remedy="Leave data_path out."
        )
    return wanted or visit.service.settings.data_path


@router.get("/{catalog}", summary="A catalog", response_model=CatalogInFull)
def get_catalog(visit: Asking, catalog: Name) -> Response:
    """What the metastore keeps about it."""
    found = visit.catalog(catalog, "catalog.get")
    return CatalogInFull(
        **Catalog.of(found.row).model_dump(),
        parent=visit.access.parent(visit.caller, found.row),
        expires_at=found.expires_at(),
    ).response()


@router.patch(
    "/{catalog}", summary="Rename it, or change its time to live", response_model=CatalogInFull
)
def change_catalog(visit: Asking, catalog: Name, body: ChangeCatalog) -> Response:
    """Its folder and contents stay."""
    if body.sets_lifetime:
        _extend(visit, catalog, body)
    if body.name is None:
        return get_catalog(visit, catalog)
    visit.access.rename(visit.caller, catalog, body.name)
    return get_catalog(visit, body.name)


def _extend(visit: Visit, name: str, body: ChangeCatalog) -> None:
    catalog = visit.catalog(name, "catalog.extend")
    with visit.access.audited(visit.caller, "catalog.extend", name, catalog=catalog):
        catalog.extend(body.lifetime)


@router.delete("/{catalog}", summary="Drop a catalog", status_code=204)
def drop_catalog(visit: Asking, catalog: Name, if_exists: bool = False) -> Response:
    """Its forks live on."""
    dropped = visit.access.drop(visit.caller, [catalog], if_exists=if_exists)
    visit.service.metrics.dropped.inc(dropped)
    return nothing()


@router.post(
    "/{catalog}/materialize", summary="Give a fork rows of its own", response_model=Materialized
)
def materialize(visit: Asking, catalog: Name) -> Response:
    """Nothing that can be seen changes; its line to its ancestors is cut."""
    found = visit.catalog(catalog, "catalog.materialize")
    with visit.access.audited(visit.caller, "catalog.materialize", catalog, catalog=found):
        snapshot = visit.access.metastore.materialize(catalog)
    return Materialized(snapshot=snapshot).response()
