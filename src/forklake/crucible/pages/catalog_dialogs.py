"""Dialogs that change catalogs: fork, rename, drop."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import CatalogFrame, open_frame
from forklake.crucible.pages.rendering import redirect, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor
from forklake.errors import ForklakeError, InvalidInput, outcome
from forklake.model.requests import ForkRequest

routes = create_router()
Text = Annotated[str, Form()]
# Lifetimes of forks by their labels in the dialog.
LIVES: dict[str, timedelta | None] = {
    "never": None,
    "in one hour": timedelta(hours=1),
    "in one day": timedelta(days=1),
    "in one week": timedelta(weeks=1),
    "in 30 days": timedelta(days=30),
}


def _render_dialog(
    request: Request,
    template: str,
    frame: CatalogFrame,
    error: ForklakeError | None,
    **values: object,
) -> Response:
    status = outcome(error)[0] if error else 200
    return render(request, template, status=status, frame=frame, error=error, **values)


@routes.get("/catalogs/{catalog}/fork")
def show_fork_dialog(
    request: Request, visitor: CurrentVisitor, catalog: str, at: int | None = None
) -> Response:
    """Return the dialog that forks a catalog."""
    frame = open_frame(visitor, catalog, "forks", "catalog.fork")
    at_text = "" if at is None else str(at)
    return _render_dialog(
        request, "fork.html", frame, None, name="", at=at_text, life="", lives=LIVES
    )


@routes.post("/catalogs/{catalog}/fork")
def fork_catalog(
    request: Request,
    visitor: FormVisitor,
    catalog: str,
    name: Text = "",
    at: Text = "",
    life: Text = "",
) -> Response:
    """Fork a catalog and redirect to the fork."""
    frame = open_frame(visitor, catalog, "forks", "catalog.fork")
    try:
        wanted = ForkRequest(catalog, [name.strip()], at=_parse_snapshot(at), ttl=LIVES.get(life))
        (made,) = visitor.access.catalogs.fork(visitor.caller, wanted).rows
    except ForklakeError as error:
        return _render_dialog(
            request, "fork.html", frame, error, name=name, at=at, life=life, lives=LIVES
        )
    return redirect(request, link("catalogs", made.catalog_name))


def _parse_snapshot(text: str) -> int | None:
    """Return the snapshot id in a form field, or None if the field is empty."""
    if not text.strip():
        return None
    if not (text.strip().isascii() and text.strip().isdigit() and len(text) < 19):
        raise InvalidInput(
            f"{text[:40]!r} is not a snapshot id.",
            remedy="Enter a number, or leave the field empty to fork the current snapshot.",
        )
    return int(text)


@routes.get("/catalogs/{catalog}/rename")
def show_rename_dialog(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the dialog that renames a catalog."""
    frame = open_frame(visitor, catalog, "", "catalog.rename")
    return _render_dialog(request, "rename.html", frame, None, name=frame.name)


@routes.post("/catalogs/{catalog}/rename")
def rename_catalog(
    request: Request, visitor: FormVisitor, catalog: str, name: Text = ""
) -> Response:
    """Rename a catalog and redirect to it."""
    frame = open_frame(visitor, catalog, "", "catalog.rename")
    try:
        renamed = visitor.access.catalogs.rename(visitor.caller, catalog, name.strip())
    except ForklakeError as error:
        return _render_dialog(request, "rename.html", frame, error, name=name)
    return redirect(request, link("catalogs", renamed.name))


@routes.get("/catalogs/{catalog}/drop")
def show_drop_dialog(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the dialog that drops a catalog."""
    return _render_dialog(
        request, "drop.html", open_frame(visitor, catalog, "", "catalog.drop"), None
    )


@routes.post("/catalogs/{catalog}/drop")
def drop_catalog(
    request: Request, visitor: FormVisitor, catalog: str, confirm: Text = ""
) -> Response:
    """Drop a catalog if its name was typed as confirmation."""
    frame = open_frame(visitor, catalog, "", "catalog.drop")
    try:
        if confirm.strip() != frame.name:
            raise InvalidInput(
                "The typed name does not match the name of the catalog.",
                remedy="Type the name exactly as shown.",
            )
        visitor.access.catalogs.drop(visitor.caller, [catalog])
    except ForklakeError as error:
        return _render_dialog(request, "drop.html", frame, error)
    return redirect(request, "/")
