"""Statements of a session: what was asked, how far it is, and what came of it."""

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


class State(StrEnum):
    """How far a statement is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({State.DONE, State.FAILED, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: a text of one or more statements, by whom, and how long it may take."""

    caller: Caller
    sql: str
    parameters: Parameters
    dialect: str
    seconds: float


class Statement:
    """One request to a session. Its worker moves it on; others look at it, wait, or stop it."""

    def __init__(self, number: int, request: Request) -> None:
        self.number = number
        self.request = request
        self.state = State.QUEUED
        self.kind: str | None = None
        self.error: ForklakeError | None = None
        self.rows: Rows | None = None
        self.submitted = datetime.now(UTC)
        self.started: datetime | None = None
        self.ended: datetime | None = None
        self.deadline: float | None = None  # by the clock of the sessions
        self.stopping: Cancelled | None = None  # why it is to end
        self._guard = threading.Lock()
        self._over: Future[None] = Future()

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in ENDED

    @property
    def changed(self) -> int | None:
        """How many rows it changed, if that is what it answered."""
        rows = self.rows
        if rows is None or self.kind == "SELECT" or rows.schema.names != ["Count"]:
            return None
        return int(rows.page(0, 1)["Count"][0].as_py())

    # By the worker

    def start(self, now: float) -> bool:
        """Begin to run; False if it was stopped before."""
        with self._guard:
            if self.state is not State.QUEUED:
                return False
            self.state, self.started = State.RUNNING, datetime.now(UTC)
            self.deadline = now + self.request.seconds
            return True

    def proceed(self) -> None:
        """Cancelled if somebody wants it to stop."""
        if self.stopping is not None:
            raise self.stopping

    def succeed(self, kind: str, rows: Rows) -> None:
        """It has run to its end."""
        with self._guard:
            self.kind, self.rows = kind, rows
            self._end(State.DONE)

    def fail(self, error: ForklakeError) -> None:
        """It could not."""
        with self._guard:
            self.error = error
            self._end(State.CANCELLED if error is self.stopping else State.FAILED)

    def _end(self, state: State) -> None:
        self.state, self.ended = state, datetime.now(UTC)
        self._over.set_result(None)

    # By others

    def stop(self, reason: Cancelled) -> bool:
        """Make it end soon; True if it runs and so has to be interrupted."""
        with self._guard:
            if self.has_ended:
                return False
            if self.stopping is None:
                self.stopping = reason
            if self.state is State.QUEUED:
                self.error = self.stopping
                self._end(State.CANCELLED)
                return False
            return True

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it ended within some seconds."""
        with suppress(WaitedTooLong):
            self._over.result(seconds)
        return self.has_ended

    async def waited(self, seconds: float) -> None:
        """Return when it has ended, or after some seconds; no thread waits."""
        if not self.has_ended and seconds > 0:
            await asyncio.wait([asyncio.wrap_future(self._over)], timeout=seconds)

    def answer(self) -> Rows:
        """Its rows; its error if it failed, InvalidInput if it has none yet."""
        if self.error is not None:
            raise self.error
        if not self.has_ended:
            raise InvalidInput(
                f"Statement {self.number} is still {self.state}.", remedy="Ask again later."
            )
        if self.rows is None:
            raise NotFound(
                f"The rows of statement {self.number} are no longer kept.",
                remedy="Run it again.",
            )
        return self.rows

    def forget_rows(self) -> None:
        """Let go of its rows."""
        rows, self.rows = self.rows, None
        if rows is not None:
            rows.drop()
