"""Dialogs that change catalogs: fork, rename, drop."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import Frame, framed
from forklake.crucible.pages.rendering import go, render
from forklake.crucible.pages.routing import router
from forklake.crucible.pages.visitors import Looking, Sending
from forklake.errors import ForklakeError, InvalidInput, outcome
from forklake.model.requests import ForkRequest

routes = router()
Text = Annotated[str, Form()]
# Lifetimes of forks by their labels in the dialog.
LIVES: dict[str, timedelta | None] = {
    "never": None,
    "in one hour": timedelta(hours=1),
    "in one day": timedelta(days=1),
    "in one week": timedelta(weeks=1),
    "in 30 days": timedelta(days=30),
}


def _dialog(
    request: Request, template: str, frame: Frame, error: ForklakeError | None, **values: object
) -> Response:
    status = outcome(error)[0] if error else 200
    return render(request, template, status=status, frame=frame, error=error, **values)


@routes.get("/catalogs/{catalog}/fork")
def ask_fork(request: Request, visitor: Looking, catalog: str, at: int | None = None) -> Response:
    """Return the dialog that forks a catalog."""
    frame = framed(visitor, catalog, "forks", "catalog.fork")
    at_text = "" if at is None else str(at)
    return _dialog(request, "fork.html", frame, None, name="", at=at_text, life="", lives=LIVES)


@routes.post("/catalogs/{catalog}/fork")
def fork(
    request: Request,
    visitor: Sending,
    catalog: str,
    name: Text = "",
    at: Text = "",
    life: Text = "",
) -> Response:
    """Fork a catalog and redirect to the fork."""
    frame = framed(visitor, catalog, "forks", "catalog.fork")
    try:
        wanted = ForkRequest(catalog, [name.strip()], at=_snapshot(at), ttl=LIVES.get(life))
        (made,) = visitor.access.catalogs.fork(visitor.caller, wanted).rows
    except ForklakeError as error:
        return _dialog(request, "fork.html", frame, error, name=name, at=at, life=life, lives=LIVES)
    return go(request, link("catalogs", made.catalog_name))


def _snapshot(text: str) -> int | None:
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
def ask_rename(request: Request, visitor: Looking, catalog: str) -> Response:
    """Return the dialog that renames a catalog."""
    frame = framed(visitor, catalog, "", "catalog.rename")
    return _dialog(request, "rename.html", frame, None, name=frame.name)


@routes.post("/catalogs/{catalog}/rename")
def rename(request: Request, visitor: Sending, catalog: str, name: Text = "") -> Response:
    """Rename a catalog and redirect to it."""
    frame = framed(visitor, catalog, "", "catalog.rename")
    try:
        renamed = visitor.access.catalogs.rename(visitor.caller, catalog, name.strip())
    except ForklakeError as error:
        return _dialog(request, "rename.html", frame, error, name=name)
    return go(request, link("catalogs", renamed.name))


@routes.get("/catalogs/{catalog}/drop")
def ask_drop(request: Request, visitor: Looking, catalog: str) -> Response:
    """Return the dialog that drops a catalog."""
    return _dialog(request, "drop.html", framed(visitor, catalog, "", "catalog.drop"), None)


@routes.post("/catalogs/{catalog}/drop")
def drop(request: Request, visitor: Sending, catalog: str, confirm: Text = "") -> Response:
    """Drop a catalog if its name was typed as confirmation."""
    frame = framed(visitor, catalog, "", "catalog.drop")
    try:
        if confirm.strip() != frame.name:
            raise InvalidInput(
                "The typed name does not match the name of the catalog.",
                remedy="Type the name exactly as shown.",
            )
        visitor.access.catalogs.drop(visitor.caller, [catalog])
    except ForklakeError as error:
        return _dialog(request, "drop.html", frame, error)
    return go(request, "/")
