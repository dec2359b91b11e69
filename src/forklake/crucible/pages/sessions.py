"""Pages that list sessions and their statements, cancel statements and close sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.pages import results
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.rendering import is_part, is_poll, no_change_response, redirect, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor

routes = create_router()


@routes.get("/sessions")
def show_sessions(request: Request, visitor: CurrentVisitor) -> Response:
    """Return the page with the visitor's sessions. A root also sees that others have sessions."""
    known = service_of(request).sessions
    own = known.list_for(visitor.caller)
    others = [one for one in known.all() if one not in own] if visitor.caller.is_free else []
    return render(
        request,
        "sessions.html",
        own=own,
        others=others,
        most=service_of(request).settings.sessions_per_principal,
    )


@routes.get("/sessions/{session}")
def show_session(request: Request, visitor: CurrentVisitor, session: str) -> Response:
    """Return the page of a session with its statements."""
    found = service_of(request).sessions.find(visitor.caller, session)
    return render(request, "session.html", session=found, statements=found.statements()[::-1])


@routes.post("/sessions/{session}/close")
def close_session(request: Request, visitor: FormVisitor, session: str) -> Response:
    """Close a session and redirect to the list of sessions."""
    service_of(request).sessions.close(visitor.caller, session)
    return redirect(request, link("sessions"))


@routes.get("/sessions/{session}/statements/{number}")
def show_statement(
    request: Request,
    visitor: CurrentVisitor,
    session: str,
    number: int,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> Response:
    """Return the page of a statement with its result."""
    found = service_of(request).sessions.find(visitor.caller, session)
    shown = found.statement(number)
    if is_poll(request) and not shown.has_ended:
        return no_change_response()
    rows, error = results.read_result_page(shown, offset)
    here = link("sessions", session, "statements", number)
    return render(
        request,
        "statement.html",
        session=found.session_id,
        statement=shown,
        shown=rows,
        error=error,
        here=here,
    )


@routes.post("/sessions/{session}/statements/{number}/cancel")
def cancel_statement(request: Request, visitor: FormVisitor, session: str, number: int) -> Response:
    """Cancel a statement. A page that polls for its result keeps polling."""
    service_of(request).sessions.find(visitor.caller, session).cancel(number)
    if is_part(request):
        return no_change_response()
    return redirect(request, link("sessions", session, "statements", number))
