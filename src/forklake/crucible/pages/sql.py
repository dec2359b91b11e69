"""SQL editor of a catalog: a text, a session that runs it, and the result."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Annotated

from fastapi import Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from forklake.catalog.catalog import Catalog
from forklake.crucible.callers import service_of
from forklake.crucible.pages import results
from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.frames import CatalogFrame, open_frame
from forklake.crucible.pages.rendering import is_poll, no_change_response, render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from forklake.crucible.sessions import statements
from forklake.crucible.sessions.session import ServedSession
from forklake.errors import ForklakeError, InvalidInput, NotFound
from forklake.model.names import quoted
from forklake.sql.dialect import parse
from forklake.sql.session import DUCKDB

routes = create_router()
_PATIENCE = 0.5  # seconds that a page waits for the result before it is shown without
_MOST = 10_000


class EditorSessions:
    """Session ids of the SQL editors by visitor and catalog."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, int], str] = OrderedDict()

    def find(self, visitor: Visitor, catalog: Catalog) -> str:
        """Return the id of the session, or an empty string."""
        with self._guard:
            return self._known.get((visitor.token, catalog.catalog_id), "")

    def put(self, visitor: Visitor, catalog: Catalog, session_id: str) -> None:
        """Store the id of a session. The oldest ids are evicted."""
        with self._guard:
            self._known[visitor.token, catalog.catalog_id] = session_id
            while len(self._known) > _MOST:
                self._known.popitem(last=False)


@routes.get("/catalogs/{catalog}/sql")
def show_editor(
    request: Request,
    visitor: CurrentVisitor,
    catalog: str,
    session: str = "",
    statement: int = 0,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    schema: str = "main",
    name: str = "",
) -> Response:
    """Return the editor with a statement and its result, or with a query of a given table."""
    frame = open_frame(visitor, catalog, "sql")
    shown = None
    if session:
        shown = service_of(request).sessions.find(visitor.caller, session).statement(statement)
        if is_poll(request) and not shown.has_ended:
            return no_change_response()
        shown.wait(_PATIENCE)
    text = shown.request.sql if shown else _initial_query(schema, name)
    return _render_editor(request, frame, text, session=session, shown=shown, offset=offset)


def _initial_query(schema: str, name: str) -> str:
    return f"SELECT * FROM {quoted(schema)}.{quoted(name)} LIMIT 100" if name else ""


def _render_editor(
    request: Request,
    frame: CatalogFrame,
    text: str,
    *,
    session: str = "",
    shown: statements.Statement | None = None,
    offset: int = 0,
    error: ForklakeError | None = None,
) -> Response:
    found, failure = results.read_result_page(shown, offset) if shown else (None, None)
    number = shown.number if shown else None
    return render(
        request,
        "sql.html",
        frame=frame,
        text=text,
        session=session,
        statement=shown,
        shown=found,
        error=error or failure,
        here=link("catalogs", frame.name, "sql", session=session, statement=number),
    )


@routes.post("/catalogs/{catalog}/sql")
def run_sql(
    request: Request,
    visitor: FormVisitor,
    catalog: str,
    sql: Annotated[str, Form()] = "",
    explain: Annotated[str, Form()] = "",
) -> Response:
    """Run SQL in the visitor's session on the catalog, and redirect to its result."""
    frame = open_frame(visitor, catalog, "sql")
    try:
        text = _explain(sql) if explain else _require_text(sql)
        session = _open_session(request, visitor, frame.catalog)
        seconds = service_of(request).settings.statement_seconds
        submitted = session.submit(
            statements.StatementRequest(visitor.caller, text, None, DUCKDB, seconds)
        )
    except ForklakeError as error:
        return _render_editor(request, frame, sql, error=error)
    # htmx follows the redirect too, so that the URL always identifies the statement shown.
    here = link(
        "catalogs", frame.name, "sql", session=session.session_id, statement=submitted.number
    )
    return RedirectResponse(here, status_code=303)


def _require_text(sql: str) -> str:
    if not sql.strip():
        raise InvalidInput("The SQL text is empty.", remedy="Enter a statement.")
    return sql


def _explain(sql: str) -> str:
    """Return an EXPLAIN of a query. A second statement in the text would be executed: reject it."""
    if len(parse(sql, DUCKDB)) != 1:
        raise InvalidInput(
            "Only a single query can be explained.", remedy="Remove all statements but one."
        )
    return f"EXPLAIN {sql}"


def _open_session(request: Request, visitor: Visitor, catalog: Catalog) -> ServedSession:
    """Return the editor's session; open a new one if there is none or it was closed."""
    editors: EditorSessions = request.app.state.editor_sessions
    sessions = service_of(request).sessions
    try:
        return sessions.find(visitor.caller, editors.find(visitor, catalog))
    except NotFound:
        opened = sessions.open(visitor.access, visitor.caller, catalog.name)
        editors.put(visitor, catalog, opened.session_id)
        return opened
