"""Start page: all catalogs that the visitor can read, with a search by name prefix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.access.roles import Right
from forklake.crucible.callers import service_of
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.rendering import redirect, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from forklake.errors import ForklakeError, outcome
from forklake.model.ids import CatalogId
from forklake.model.requests import CreateRequest
from forklake.store.catalogs import CatalogRow

routes = create_router()
_PAGE = 50


@routes.get("/")
def show_catalogs(
    request: Request, visitor: CurrentVisitor, prefix: str = "", after: str = ""
) -> Response:
    """Return a page of catalogs ordered by name."""
    rows = visitor.access.visible.catalogs(
        visitor.caller, prefix=prefix, after=after, limit=_PAGE + 1
    )
    metastore = visitor.access.metastore
    return render(
        request,
        "catalogs.html",
        rows=rows[:_PAGE],
        parents=_find_parents(visitor, rows),
        prefix=prefix,
        after=after,
        following=rows[_PAGE - 1].catalog_name if len(rows) > _PAGE else None,
        total=metastore.count() if visitor.caller.is_free and not (prefix or after) else None,
    )


def _find_parents(visitor: Visitor, rows: Sequence[CatalogRow]) -> dict[CatalogId, str]:
    """Return the names of the parents that the visitor can read. A token covers one catalog."""
    ids = {row.parent_catalog_id for row in rows if row.parent_catalog_id is not None}
    names = visitor.access.metastore.names(sorted(ids)) if ids else {}
    rights = visitor.access.authorization.rights(visitor.caller, list(names.values()))
    return {number: name for number, name in names.items() if Right.READ in rights[name]}


@routes.get("/new")
def show_create_dialog(request: Request, visitor: CurrentVisitor) -> Response:
    """Return the dialog that creates a catalog."""
    return _render_dialog(request, "")


def _render_dialog(request: Request, name: str, error: ForklakeError | None = None) -> Response:
    status = outcome(error)[0] if error else 200
    return render(request, "new.html", status=status, name=name, error=error)


@routes.post("/new")
def create_catalog(
    request: Request, visitor: FormVisitor, name: Annotated[str, Form()] = ""
) -> Response:
    """Create a catalog and redirect to it."""
    try:
        made = _create_catalog(request, visitor, name.strip())
    except ForklakeError as error:
        return _render_dialog(request, name, error)
    return redirect(request, link("catalogs", made))


def _create_catalog(request: Request, visitor: Visitor, name: str) -> str:
    path = service_of(request).settings.data_path
    (row,) = visitor.access.catalogs.create(visitor.caller, CreateRequest([name], path)).rows
    return row.catalog_name
