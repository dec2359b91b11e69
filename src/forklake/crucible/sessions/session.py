"""Session of the service: a queue of statements, executed on one thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forklake.access.callers import Caller
from forklake.crucible.sessions.engines import EngineFactory
from forklake.crucible.sessions.failures import to_error
from forklake.crucible.sessions.guard import AccessGuard
from forklake.crucible.sessions.pooled import PooledSession
from forklake.crucible.sessions.result_transfer import fetch_rows
from forklake.crucible.sessions.rows import Spool
from forklake.crucible.sessions.statements import Statement, StatementRequest
from forklake.crucible.sessions.watchdog import Watchdog
from forklake.engines.local.calculator import interrupt
from forklake.errors import Cancelled, InvalidInput, NotFound, QuotaExceeded
from forklake.session.names import joined_name

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment

MOST_WAITING = 32
MOST_KEPT = 25  # ended statements that are retained with their rows
_KEPT_ANSWERS = 2  # total size of retained results, in results of the maximum size
_ENDING_SECONDS = 10.0
_PATIENCE = 0.2  # seconds between checks of a thread that is ending


class ServedSession:
    """Session opened by a caller. One statement runs at a time; the others are queued."""

    def __init__(
        self,
        session_id: str,
        caller: Caller,
        guard: AccessGuard,
        engines: EngineFactory,
        spool: Spool,
        watchdog: Watchdog,
        *,
        most_bytes: int,
        clock: Callable[[], float],
    ) -> None:
        self.session_id = session_id
        self.owner = caller
        self.opened = datetime.now(UTC)
        self.session = PooledSession(engines, attachments=guard.attachments, guard=guard)
        self._guard = guard
        self._spool = spool
        self._watchdog = watchdog
        self._most_bytes = most_bytes
        self._clock = clock
        self._last_use = clock()
        self._statements: dict[int, Statement] = {}
        self._waiting: deque[Statement] = deque()
        self._count = 0
        self._is_closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(
            target=self._run_statements, name=f"forklake-session-{session_id[:6]}", daemon=True
        )

    # Lifecycle

    def open(self, catalog: str, alias: str | None, snapshot: int | None) -> None:
        """Attach and use the catalog, and start to execute statements."""
        with self._guard.act_as(self.owner):
            self.session.attach(catalog, alias, snapshot_version=snapshot)
            self.session.use(joined_name([alias or catalog]))
        self._thread.start()

    def is_idle(self, seconds: float) -> bool:
        """Return whether the session has been unused for more than some seconds."""
        with self._changed:
            return not self._unfinished() and self._clock() - self._last_use > seconds

    def touch(self) -> None:
        """Restart the idle time."""
        self._last_use = self._clock()

    def end(self) -> None:
        """Cancel all statements, reject new ones, and let the thread roll back and close."""
        with self._changed:
            self._is_closing = True
            left = self._unfinished()
            self._changed.notify()
        for statement in left:
            self.stop(statement, Cancelled("The session was closed.", remedy="Open a new session."))

    def wait_closed(self, seconds: float = _ENDING_SECONDS) -> bool:
        """Wait up to some seconds for the thread to end, and return whether it has ended."""
        if self._thread.ident is None:
            self._close()
        deadline = time.monotonic() + seconds
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._thread.join(_PATIENCE)
            self.enforce_stop()
        return not self._thread.is_alive()

    @property
    def has_thread(self) -> bool:
        """Whether the thread is alive. After `end`, it is until the running statement ends."""
        return self._thread.is_alive()

    def attached(self) -> list[Attachment]:
        """Return the attached catalogs, whether or not the caller can still read them."""
        return self._guard.attachments.known()

    # Statements

    def submit(self, request: StatementRequest) -> Statement:
        """Append a statement to the queue. Raise QuotaExceeded if the queue is full."""
        with self._changed:
            if self._is_closing:
                raise InvalidInput("The session is being closed.", remedy="Open a new session.")
            if len(self._waiting) >= MOST_WAITING:
                raise QuotaExceeded(
                    f"This session already has {MOST_WAITING} queued statements.",
                    remedy="Wait until some of them have ended, and try again.",
                )
            self._count += 1
            statement = Statement(self._count, request)
            self._statements[statement.number] = statement
            self._waiting.append(statement)
            self.touch()
            self._changed.notify()
        return statement

    def statement(self, number: int) -> Statement:
        """Return a statement by its number."""
        found = self._statements.get(number)
        if found is None:
            raise NotFound(
                f"Statement {number} does not exist in this session.",
                remedy=f"A session retains its last {MOST_KEPT} ended statements: list them.",
            )
        return found

    def statements(self) -> list[Statement]:
        """Return the retained statements, oldest first."""
        with self._changed:
            return list(self._statements.values())

    def cancel(self, number: int) -> Statement:
        """Cancel a statement. What it has committed stays."""
        statement = self.statement(number)
        self.stop(statement, Cancelled("The statement was cancelled.", reason="cancelled"))
        return statement

    def enforce_stop(self) -> None:
        """Cancel the running statement if its time is over, or again if it was cancelled before.

        Repeating is necessary: cancelling a Spark job group stops the running jobs of the group,
        but only some of its future ones.
        """
        for statement in self._unfinished():
            is_overdue = statement.deadline is not None and self._clock() > statement.deadline
            if is_overdue or statement.stopping is not None:
                self.stop(
                    statement, statement.stopping or _timeout_error(statement.request.seconds)
                )

    def stop(self, statement: Statement, reason: Cancelled) -> None:
        """Interrupt a statement, whether it runs in Spark, in DuckDB or in Python."""
        if statement.stop(reason):
            group, thread = self._job_group(statement), self._thread.ident or 0
            self._watchdog.watch(group, self.session, thread, lambda: statement.has_ended)
            self.session.stop_group(group)
            interrupt(thread)

    def _unfinished(self) -> list[Statement]:
        return [one for one in self.statements() if not one.has_ended]

    def _job_group(self, statement: Statement) -> str:
        return f"forklake-{self.session_id}-{statement.number}"

    # Worker thread

    def _run_statements(self) -> None:
        try:
            while (statement := self._next_statement()) is not None:
                if statement.start(self._clock()):
                    self._run_statement(statement)
                self._forget_oldest()
                self.touch()
        finally:
            self._close()

    def _next_statement(self) -> Statement | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            return self._waiting.popleft() if self._waiting and not self._is_closing else None

    def _run_statement(self, statement: Statement) -> None:
        request, group = statement.request, self._job_group(statement)
        try:
            with (
                self._guard.act_as(request.caller, statement.proceed),
                self.session.noticing_death(),
            ):
                self.session.begin_group(group)
                result = self.session.execute(
                    request.sql, request.parameters, dialect=request.dialect
                )
                rows = fetch_rows(result, self._spool, self._most_bytes)
            statement.succeed(result.kind, rows)
        except Exception as reason:  # noqa: BLE001 - any error ends only this statement
            statement.fail(statement.stopping or to_error(reason))
            self.session.stop_group(group)  # jobs of the statement may still be running

    def _forget_oldest(self) -> None:
        with self._changed:
            ended = [one for one in self._statements.values() if one.has_ended]
            kept = 0
            for statement in reversed(ended):
                kept += statement.rows.bytes if statement.rows is not None else 0
                if kept > _KEPT_ANSWERS * self._most_bytes:
                    statement.forget_rows()
            for statement in ended[:-MOST_KEPT]:
                statement.forget_rows()
                del self._statements[statement.number]

    def _close(self) -> None:
        for statement in self.statements():
            statement.forget_rows()
        try:
            with self._guard.act_as(self.owner):
                self.session.close()
        except Exception as reason:  # noqa: BLE001 - logged, because no client waits for it
            to_error(reason)


def _timeout_error(seconds: float) -> Cancelled:
    return Cancelled(
        f"The statement took longer than {seconds:g} seconds.",
        remedy="Increase timeout_seconds, up to the service setting 'statement_seconds', or process"
        " less data.",
        reason="timeout",
    )
