"""Routes for the views of a schema."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter
from sqlglot import exp
from starlette.responses import Response

from forklake.catalog.catalog import Catalog
from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.definition_changes import apply_change, read_state
from forklake.crucible.sessions.statements import StatementRequest
from forklake.crucible.shapes.base import AtSnapshot, AtTime, Name, empty_response
from forklake.crucible.shapes.tables import NewView, View, Views
from forklake.errors import InvalidInput
from forklake.model.names import checked_name, quoted
from forklake.sql.dialect.parsing import parse

router = APIRouter(prefix="/v1/catalogs/{catalog}/schemas/{schema}/views", tags=["views"])
_ALIAS = "lake"


@router.get("", summary="List views", response_model=Views)
def list_views(
    context: Context,
    catalog: Name,
    schema: Name,
    snapshot: AtSnapshot = None,
    timestamp: AtTime = None,
) -> Response:
    """List views with their queries, at the current or a given snapshot."""
    view = read_state(context.catalog(catalog, "view.list"), snapshot, timestamp)
    view.state.schema(schema)
    rows = sorted(view.state.views(schema), key=lambda row: row.view_name)
    found = [View.of(view.state, row) for row in rows]
    return Views(snapshot=view.snapshot_id, views=found).to_response()


@router.post("", summary="Create a view", status_code=201, response_model=View)
async def create_view(context: Context, catalog: Name, schema: Name, body: NewView) -> Response:
    """Create a view. Its query is checked with the rights of the caller."""
    made = await to_thread.run_sync(
        _create_view, context, catalog, schema, body, limiter=context.service.jobs
    )
    return made.to_response(201)


def _create_view(context: RequestContext, catalog: str, schema: str, body: NewView) -> View:
    found = context.catalog(catalog, "view.create")
    found.now().state.schema(schema)
    _run_statement(context, found, _build_statement(schema, body))
    state = found.now().state
    return View.of(state, state.view(body.name, schema))


def _build_statement(schema: str, body: NewView) -> str:
    statements = parse(body.sql)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise InvalidInput(
            "A view must consist of one query.", remedy="Set 'sql' to a single SELECT statement."
        )
    create = "CREATE OR REPLACE VIEW" if body.or_replace else "CREATE VIEW"
    name = ".".join(map(quoted, (_ALIAS, schema, checked_name(body.name, "view"))))
    return f"{create}{' IF NOT EXISTS' if body.if_not_exists else ''} {name} AS {body.sql}"


def _run_statement(context: RequestContext, catalog: Catalog, sql: str) -> None:
    """Run a statement as the caller, in a session opened and closed for it."""
    sessions, settings = context.service.sessions, context.service.settings
    session = sessions.open(context.access, context.caller, catalog.name, alias=_ALIAS)
    try:
        seconds = min(settings.statement_seconds, settings.request_seconds)
        statement = session.submit(StatementRequest(context.caller, sql, None, "duckdb", seconds))
        statement.wait()
        statement.result()
    finally:
        sessions.close(context.caller, session.session_id)


@router.get("/{view}", summary="Get a view", response_model=View)
def get_view(
    context: Context,
    catalog: Name,
    schema: Name,
    view: Name,
    snapshot: AtSnapshot = None,
    timestamp: AtTime = None,
) -> Response:
    """Return a view with its query, at the current or a given snapshot."""
    state = read_state(context.catalog(catalog, "view.get"), snapshot, timestamp).state
    return View.of(state, state.view(view, schema)).to_response()


@router.delete("/{view}", summary="Drop a view", status_code=204)
def drop_view(
    context: Context, catalog: Name, schema: Name, view: Name, if_exists: bool = False
) -> Response:
    """Drop a view. Earlier snapshots and existing forks keep it."""
    apply_change(
        context,
        catalog,
        "view.drop",
        f"{schema}.{view}",
        lambda change: change.drop_view(view, schema=schema, if_exists=if_exists),
    )
    return empty_response()
