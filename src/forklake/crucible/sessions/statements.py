"""Statements of a session, with their requests, states and results."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from forklake.access.callers import Caller
from forklake.crucible.sessions.rows import Rows
from forklake.errors import Cancelled, ForklakeError, InvalidInput, NotFound
from forklake.sql.parameters import Parameters


class StatementState(StrEnum):
    """State of a statement."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({StatementState.DONE, StatementState.FAILED, StatementState.CANCELLED})


@dataclass(frozen=True, slots=True)
class StatementRequest:
    """Request to run SQL: one or more statements, the caller, and the time limit."""

    caller: Caller
    sql: str
    parameters: Parameters
    dialect: str
    seconds: float


class Statement:
    """Statement of a session. The worker thread advances it; other threads wait or cancel it."""

    def __init__(self, number: int, request: StatementRequest) -> None:
        self.number = number
        self.request = request
        self.state = StatementState.QUEUED
        self.kind: str | None = None
        self.error: ForklakeError | None = None
        self.rows: Rows | None = None
        self.submitted = datetime.now(UTC)
        self.started: datetime | None = None
        self.ended: datetime | None = None
        self.deadline: float | None = None  # by the clock of the sessions
        self.stopping: Cancelled | None = None  # reason, if it is to be cancelled
        self._guard = threading.Lock()
        self._over: Future[None] = Future()

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in ENDED

    @property
    def changed(self) -> int | None:
        """Number of rows changed; None if the result is not such a count."""
        rows = self.rows
        if rows is None or self.kind == "SELECT" or rows.schema.names != ["Count"]:
            return None
        return int(rows.page(0, 1)["Count"][0].as_py())

    # Called by the worker

    def start(self, now: float) -> bool:
        """Change the state to running. Return False if it was cancelled before."""
        with self._guard:
            if self.state is not StatementState.QUEUED:
                return False
            self.state, self.started = StatementState.RUNNING, datetime.now(UTC)
            self.deadline = now + self.request.seconds
            return True

    def proceed(self) -> None:
        """Raise Cancelled if the statement is to be cancelled."""
        if self.stopping is not None:
            raise self.stopping

    def succeed(self, kind: str, rows: Rows) -> None:
        """Change the state to done and store the result."""
        with self._guard:
            self.kind, self.rows = kind, rows
            self._end(StatementState.DONE)

    def fail(self, error: ForklakeError) -> None:
        """Change the state to failed or cancelled and store the error."""
        with self._guard:
            self.error = error
            self._end(StatementState.CANCELLED if error is self.stopping else StatementState.FAILED)

    def _end(self, state: StatementState) -> None:
        self.state, self.ended = state, datetime.now(UTC)
        self._over.set_result(None)

    # Called by other threads

    def stop(self, reason: Cancelled) -> bool:
        """Request cancellation. Return True if the statement is running and must be interrupted."""
        with self._guard:
            if self.has_ended:
                return False
            if self.stopping is None:
                self.stopping = reason
            if self.state is StatementState.QUEUED:
                self.error = self.stopping
                self._end(StatementState.CANCELLED)
                return False
            return True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait up to some seconds, and return whether the statement has ended."""
        with suppress(WaitedTooLong):
            self._over.result(seconds)
        return self.has_ended

    async def wait_async(self, seconds: float) -> None:
        """Wait until the statement ends, or for some seconds, without occupying a thread."""
        if not self.has_ended and seconds > 0:
            await asyncio.wait([asyncio.wrap_future(self._over)], timeout=seconds)

    def result(self) -> Rows:
        """Return the result. Raise the statement's error, or InvalidInput if it has not ended."""
        if self.error is not None:
            raise self.error
        if not self.has_ended:
            raise InvalidInput(
                f"Statement {self.number} is still {self.state}.",
                remedy="Wait until it has ended, and try again.",
            )
        if self.rows is None:
            raise NotFound(
                f"The rows of statement {self.number} are no longer retained.",
                remedy="Run the statement again.",
            )
        return self.rows

    def forget_rows(self) -> None:
        """Delete the result."""
        rows, self.rows = self.rows, None
        if rows is not None:
            rows.drop()
