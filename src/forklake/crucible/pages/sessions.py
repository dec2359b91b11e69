"""Pages that list sessions and their statements, cancel statements and close sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.pages import results
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.rendering import go, is_part, is_poll, nothing_new, render
from forklake.crucible.pages.routing import router
from forklake.crucible.pages.visitors import Looking, Sending

routes = router()


@routes.get("/sessions")
def sessions(request: Request, visitor: Looking) -> Response:
    """Return the page with the visitor's sessions. A root also sees that others have sessions."""
    known = service_of(request).sessions
    own = known.of(visitor.caller)
    others = [one for one in known.all() if one not in own] if visitor.caller.is_free else []
    return render(
        request,
        "sessions.html",
        own=own,
        others=others,
        most=service_of(request).settings.sessions_per_principal,
    )


@routes.get("/sessions/{session}")
def session(request: Request, visitor: Looking, session: str) -> Response:
    """Return the page of a session with its statements."""
    found = service_of(request).sessions.find(visitor.caller, session)
    return render(request, "session.html", session=found, statements=found.statements()[::-1])


@routes.post("/sessions/{session}/close")
def close(request: Request, visitor: Sending, session: str) -> Response:
    """Close a session and redirect to the list of sessions."""
    service_of(request).sessions.close(visitor.caller, session)
    return go(request, link("sessions"))


@routes.get("/sessions/{session}/statements/{number}")
def statement(
    request: Request,
    visitor: Looking,
    session: str,
    number: int,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> Response:
    """Return the page of a statement with its result."""
    found = service_of(request).sessions.find(visitor.caller, session)
    asked = found.statement(number)
    if is_poll(request) and not asked.has_ended:
        return nothing_new()
    rows, error = results.shown(asked, offset)
    here = link("sessions", session, "statements", number)
    return render(
        request,
        "statement.html",
        session=found.session_id,
        statement=asked,
        shown=rows,
        error=error,
        here=here,
    )


@routes.post("/sessions/{session}/statements/{number}/cancel")
def cancel(request: Request, visitor: Sending, session: str, number: int) -> Response:
    """Cancel a statement. A page that polls for its result keeps polling."""
    service_of(request).sessions.find(visitor.caller, session).cancel(number)
    if is_part(request):
        return nothing_new()
    return go(request, link("sessions", session, "statements", number))
