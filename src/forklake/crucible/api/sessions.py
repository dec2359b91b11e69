"""Routes for sessions: open them on a catalog, run statements, read the results."""

from __future__ import annotations

from typing import Annotated, Any

import pyarrow as pa
from anyio import to_thread
from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from forklake.crucible.callers import Context, RequestContext
from forklake.crucible.sessions.session import ServedSession
from forklake.crucible.sessions.statements import StatementRequest
from forklake.crucible.shapes.base import MAX_NUMBER, empty_response
from forklake.crucible.shapes.sessions import (
    MAX_WAIT,
    NewSession,
    NewStatement,
    RowPage,
    SessionInfo,
    SessionList,
    StatementInfo,
    StatementList,
)

ARROW = "application/vnd.apache.arrow.stream"
MAX_ROWS = 100_000

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])

SessionId = Annotated[str, Path(alias="session", max_length=100, description="Session id.")]
StatementNumber = Annotated[
    int,
    Path(
        alias="statement",
        ge=1,
        le=MAX_NUMBER,
        description="Number of the statement in its session.",
    ),
]
_ROWS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": RowPage,
        "description": "A page of rows",
        "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _find_session(context: RequestContext, session: str) -> ServedSession:
    return context.service.sessions.find(context.caller, session)


@router.post("", summary="Open a session", status_code=201, response_model=SessionInfo)
def open_session(context: Context, body: NewSession) -> Response:
    """Open a session that uses a catalog. It is closed when it has been idle for too long.

    The catalog is read-only if the caller cannot write to it.
    """
    opened = context.service.sessions.open(
        context.access, context.caller, body.catalog, alias=body.alias, snapshot=body.snapshot
    )
    return SessionInfo.of(opened).to_response(201)


@router.get("", summary="List sessions", response_model=SessionList)
def list_sessions(context: Context) -> Response:
    """List the sessions of the caller, oldest first."""
    own = context.service.sessions.list_for(context.caller)
    return SessionList(sessions=[SessionInfo.of(one) for one in own]).to_response()


@router.get("/{session}", summary="Get a session", response_model=SessionInfo)
def get_session(context: Context, session: SessionId) -> Response:
    """Return the current state of a session."""
    return SessionInfo.of(_find_session(context, session)).to_response()


@router.delete("/{session}", summary="Close a session", status_code=204)
def close_session(context: Context, session: SessionId) -> Response:
    """Close a session. Running statements are cancelled, an open transaction is rolled back."""
    context.service.sessions.close(context.caller, session)
    return empty_response()


@router.post(
    "/{session}/statements",
    summary="Run a statement",
    response_model=StatementInfo,
    responses={
        202: {"model": StatementInfo, "description": "The statement is queued or still running"}
    },
)
async def run_statement(context: Context, session: SessionId, body: NewStatement) -> Response:
    """Queue a statement behind the earlier statements of the session.

    The response is sent when the statement ends, or after `wait_seconds` (status 202).
    """
    most = context.service.settings.statement_seconds
    request = StatementRequest(
        caller=context.caller,
        sql=body.sql,
        parameters=body.parameters,
        dialect=body.dialect,
        seconds=min(body.timeout_seconds or most, most),
    )
    statement = _find_session(context, session).submit(request)
    await statement.wait_async(body.wait_seconds)
    return StatementInfo.of(statement).to_response(200 if statement.has_ended else 202)


@router.get("/{session}/statements", summary="List statements", response_model=StatementList)
def list_statements(context: Context, session: SessionId) -> Response:
    """List the statements that the session retains, oldest first."""
    found = _find_session(context, session).statements()
    return StatementList(statements=[StatementInfo.of(one) for one in found]).to_response()


@router.get(
    "/{session}/statements/{statement}", summary="Get a statement", response_model=StatementInfo
)
async def get_statement(
    context: Context,
    session: SessionId,
    statement: StatementNumber,
    wait_seconds: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT, description="Maximum time to wait for the statement to end."),
    ] = 0.0,
) -> Response:
    """Return the state of a statement."""
    found = _find_session(context, session).statement(statement)
    await found.wait_async(wait_seconds)
    return StatementInfo.of(found).to_response()


@router.get(
    "/{session}/statements/{statement}/rows",
    summary="Read rows",
    response_model=None,
    responses=_ROWS,
)
def read_rows(
    context: Context,
    session: SessionId,
    statement: StatementNumber,
    offset: Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Number of rows to skip.")] = 0,
    limit: Annotated[
        int, Query(ge=1, le=MAX_ROWS, description="Maximum number of rows to return.")
    ] = 1000,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Return result rows as JSON, or as an Arrow IPC stream if the request accepts it.

    The Arrow media type is `application/vnd.apache.arrow.stream`.
    """
    rows = _find_session(context, session).statement(statement).result()
    page = rows.page(min(offset, rows.count), limit)
    if ARROW in accept:
        return Response(_encode_arrow(page), media_type=ARROW)
    return RowPage.of(rows, offset, page).to_response()


@router.post(
    "/{session}/statements/{statement}/cancel",
    summary="Cancel a statement",
    response_model=StatementInfo,
)
async def cancel_statement(
    context: Context, session: SessionId, statement: StatementNumber
) -> Response:
    """Cancel a statement. What it has committed stays, and one that has ended is not changed."""
    found = _find_session(context, session)
    cancelled = await to_thread.run_sync(found.cancel, statement)
    await cancelled.wait_async(1.0)
    return StatementInfo.of(cancelled).to_response()


def _encode_arrow(page: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, page.schema) as stream:
        stream.write_table(page)
    written: bytes = sink.getvalue().to_pybytes()
    return written
