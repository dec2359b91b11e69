"""Pages that show and change the options and grants of a catalog."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.access.roles import ROLES, Role, role_named
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import CatalogFrame, open_frame
from forklake.crucible.pages.rendering import redirect, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from forklake.errors import ForklakeError, outcome
from forklake.model.options import OPTIONS

routes = create_router()
Text = Annotated[str, Form()]


@routes.get("/catalogs/{catalog}/options")
def show_options(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the page with all options and their effective values."""
    return _render_options(request, open_frame(visitor, catalog, "options"))


def _render_options(
    request: Request, frame: CatalogFrame, error: ForklakeError | None = None
) -> Response:
    return render(
        request,
        "options.html",
        status=outcome(error)[0] if error else 200,
        frame=frame,
        error=error,
        options=[(OPTIONS[name], *rest) for name, *rest in frame.catalog.options()],
    )


@routes.post("/catalogs/{catalog}/options")
def set_option(
    request: Request, visitor: FormVisitor, catalog: str, option: Text = "", value: Text = ""
) -> Response:
    """Set an option of the catalog. An empty value removes the setting."""
    frame = open_frame(visitor, catalog, "options", "options.set")
    try:
        with visitor.access.audit.recording(visitor.caller, "options.set", frame.name):
            frame.catalog.set_option(option, value.strip() or None)
    except ForklakeError as error:
        return _render_options(request, frame, error)
    return redirect(request, link("catalogs", frame.name, "options"))


@routes.get("/catalogs/{catalog}/grants")
def show_grants(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the page with the roles granted on the catalog."""
    return _render_grants(request, visitor, open_frame(visitor, catalog, "grants"))


def _render_grants(
    request: Request, visitor: Visitor, frame: CatalogFrame, error: ForklakeError | None = None
) -> Response:
    return render(
        request,
        "grants.html",
        status=outcome(error)[0] if error else 200,
        frame=frame,
        error=error,
        grants=visitor.access.grants.list(visitor.caller, frame.name),
        roles=[
            (role.value, ", ".join(sorted(one.name.lower() for one in ROLES[role])))
            for role in Role
        ],
    )


@routes.post("/catalogs/{catalog}/grants")
def grant_role(
    request: Request, visitor: FormVisitor, catalog: str, principal: Text = "", role: Text = ""
) -> Response:
    """Grant a role. An empty role revokes the current one."""
    frame = open_frame(visitor, catalog, "grants", "grants.set")
    access, caller = visitor.access, visitor.caller
    try:
        if role:
            access.grants.add(caller, frame.name, principal.strip(), role_named(role))
        else:
            access.grants.revoke(caller, frame.name, principal.strip())
    except ForklakeError as error:
        return _render_grants(request, visitor, frame, error)
    return redirect(request, link("catalogs", frame.name, "grants"))
