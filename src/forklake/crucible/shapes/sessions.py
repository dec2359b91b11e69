"""Models of sessions, their statements and pages of rows."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import Field, JsonValue

from forklake.crucible.sessions.cells import to_json_rows
from forklake.crucible.sessions.rows import Rows
from forklake.crucible.sessions.session import ServedSession
from forklake.crucible.sessions.statements import Statement
from forklake.crucible.shapes.base import Number, RequestBody, ResponseBody
from forklake.errors import ForklakeError

MAX_SQL = 2**20
MAX_WAIT = 30.0


class NewSession(RequestBody):
    """Catalog to attach, the alias for it in SQL, and the snapshot to read (default: current)."""

    catalog: Annotated[str, Field(min_length=1, max_length=255)]
    alias: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    snapshot: Number | None = None


class AttachedCatalog(ResponseBody):
    """Catalog attached to a session."""

    alias: str
    catalog: str
    read_only: bool


class SessionInfo(ResponseBody):
    """Current state of a session.

    `current` is the catalog and schema in use, `running` the number of the running statement, and
    `waiting` the count of queued ones.
    """

    session: str
    opened: datetime
    catalogs: list[AttachedCatalog]
    current: list[str] | None
    in_transaction: bool
    running: int | None
    waiting: int

    @classmethod
    def of(cls, one: ServedSession) -> SessionInfo:
        """Return the model of a session, without waiting for its running statement."""
        running = [each for each in one.statements() if each.state == "running"]
        current = one.session.current
        return cls(
            session=one.session_id,
            opened=one.opened,
            catalogs=[
                AttachedCatalog(
                    alias=each.alias,
                    catalog=each.catalog.name,
                    read_only=each.read_only or each.pinned is not None,
                )
                for each in one.attached()
            ],
            current=None if current is None else list(current),
            in_transaction=one.session.in_transaction,
            running=running[0].number if running else None,
            waiting=sum(each.state == "queued" for each in one.statements()),
        )


class SessionList(ResponseBody):
    """Sessions of the caller."""

    sessions: list[SessionInfo]


class NewStatement(RequestBody):
    """SQL to run: one statement, or several, of which the last one defines the result.

    `wait_seconds` is how long the request waits for the statement to end; after `timeout_seconds`
    the statement is cancelled.
    """

    sql: Annotated[str, Field(min_length=1, max_length=MAX_SQL)]
    parameters: list[JsonValue] | dict[str, JsonValue] | None = None
    dialect: Literal["duckdb", "spark"] = "duckdb"
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT)] = 10.0
    timeout_seconds: Annotated[float | None, Field(gt=0, le=86_400)] = None


class StatementError(ResponseBody):
    """Error of a statement that failed or was cancelled."""

    code: str
    message: str
    remedy: str
    details: dict[str, Any]
    retryable: bool

    @classmethod
    def of(cls, error: ForklakeError) -> StatementError:
        """Return the model of an error."""
        return cls(
            code=error.code,
            message=error.message,
            remedy=error.remedy,
            details={key: str(value) for key, value in error.details.items()},
            retryable=error.retryable,
        )


class ResultColumn(ResponseBody):
    """Result column with its Arrow type."""

    name: str
    type: str


class StatementInfo(ResponseBody):
    """Statement. `state` is `queued`, `running`, `done`, `failed` or `cancelled`.

    `row_count` is the number of result rows; `changed` is the number of rows inserted, updated or
    deleted.
    """

    statement: int
    state: str
    kind: str | None
    submitted: datetime
    started: datetime | None
    ended: datetime | None
    columns: list[ResultColumn] | None
    row_count: int | None
    changed: int | None
    error: StatementError | None

    @classmethod
    def of(cls, one: Statement) -> StatementInfo:
        """Return the model of a statement in its current state."""
        rows = one.rows
        return cls(
            statement=one.number,
            state=one.state,
            kind=one.kind,
            submitted=one.submitted,
            started=one.started,
            ended=one.ended,
            columns=None if rows is None else describe_columns(rows),
            row_count=None if rows is None else rows.count,
            changed=one.changed,
            error=None if one.error is None else StatementError.of(one.error),
        )


def describe_columns(rows: Rows) -> list[ResultColumn]:
    """Return the columns of a result."""
    return [ResultColumn(name=one.name, type=str(one.type)) for one in rows.schema]


class StatementList(ResponseBody):
    """Statements that a session retains, oldest first."""

    statements: list[StatementInfo]


class RowPage(ResponseBody):
    """Result rows, each a list of values in column order. `next` is the next page's `offset`."""

    columns: list[ResultColumn]
    rows: list[list[Any]]
    row_count: int
    next: int | None

    @classmethod
    def of(cls, rows: Rows, offset: int, page: pa.Table) -> RowPage:
        """Return the model of a page of rows."""
        end = offset + page.num_rows
        return cls(
            columns=describe_columns(rows),
            rows=to_json_rows(page),
            row_count=rows.count,
            next=end if end < rows.count else None,
        )
