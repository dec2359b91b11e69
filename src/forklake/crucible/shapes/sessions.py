"""Sessions, their statements and pages of rows, as requests and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import Field, JsonValue

from forklake.crucible.sessions.cells import json_rows
from forklake.crucible.sessions.rows import Rows
from forklake.crucible.sessions.session import ServedSession
from forklake.crucible.sessions.statements import Statement
from forklake.crucible.shapes.base import Answer, Body, Number
from forklake.errors import ForklakeError

MAX_SQL = 2**20
MAX_WAIT = 30.0


class NewSession(Body):
    """The catalog that a session begins with, what it calls it, and the snapshot it sees."""

    catalog: Annotated[str, Field(min_length=1, max_length=255)]
    alias: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    snapshot: Number | None = None


class AttachedCatalog(Answer):
    """A catalog of a session."""

    alias: str
    catalog: str
    read_only: bool


class Session(Answer):
    """A session, as it is now."""

    session: str
    opened: datetime
    catalogs: list[AttachedCatalog]
    current: list[str] | None
    in_transaction: bool
    running: int | None
    waiting: int

    @classmethod
    def of(cls, one: ServedSession) -> Session:
        """What can be told of a session without waiting for it."""
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


class SessionList(Answer):
    """The sessions of the caller."""

    sessions: list[Session]


class NewStatement(Body):
    """SQL to run: one statement, or several of which the last one answers.

    `wait_seconds` is how long the request waits for the end; `timeout_seconds`, after which the
    statement is stopped.
    """

    sql: Annotated[str, Field(min_length=1, max_length=MAX_SQL)]
    parameters: list[JsonValue] | dict[str, JsonValue] | None = None
    dialect: Literal["duckdb", "spark"] = "duckdb"
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT)] = 10.0
    timeout_seconds: Annotated[float | None, Field(gt=0, le=86_400)] = None


class Failure(Answer):
    """Why a statement did not come to its end."""

    code: str
    message: str
    remedy: str
    details: dict[str, Any]
    retryable: bool

    @classmethod
    def of(cls, error: ForklakeError) -> Failure:
        """An error as it is told."""
        return cls(
            code=error.code,
            message=error.message,
            remedy=error.remedy,
            details={key: str(value) for key, value in error.details.items()},
            retryable=error.retryable,
        )


class Column(Answer):
    """A column of an answer: its name, and its type as Arrow calls it."""

    name: str
    type: str


class StatementState(Answer):
    """A statement: queued, running, done, failed or cancelled.

    `row_count` is how many rows it answers; `changed`, how many it inserted, updated or deleted.
    """

    statement: int
    state: str
    kind: str | None
    submitted: datetime
    started: datetime | None
    ended: datetime | None
    columns: list[Column] | None
    row_count: int | None
    changed: int | None
    error: Failure | None

    @classmethod
    def of(cls, one: Statement) -> StatementState:
        """How far it is."""
        rows = one.rows
        return cls(
            statement=one.number,
            state=one.state,
            kind=one.kind,
            submitted=one.submitted,
            started=one.started,
            ended=one.ended,
            columns=None if rows is None else columns_of(rows),
            row_count=None if rows is None else rows.count,
            changed=one.changed,
            error=None if one.error is None else Failure.of(one.error),
        )


def columns_of(rows: Rows) -> list[Column]:
    """The columns of an answer."""
    return [Column(name=one.name, type=str(one.type)) for one in rows.schema]


class StatementList(Answer):
    """The statements of a session that are kept, oldest first."""

    statements: list[StatementState]


class Page(Answer):
    """Some rows, each a list of values in the order of the columns; `next` is where to go on."""

    columns: list[Column]
    rows: list[list[Any]]
    row_count: int
    next: int | None

    @classmethod
    def of(cls, rows: Rows, offset: int, page: pa.Table) -> Page:
        """A page of an answer."""
        end = offset + page.num_rows
        return cls(
            columns=columns_of(rows),
            rows=json_rows(page),
            row_count=rows.count,
            next=end if end < rows.count else None,
        )
