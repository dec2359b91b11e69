"""A session of the service: statements in a row, on a thread of its own."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forklake.access.callers import Caller
from forklake.crucible.sessions.engines import Engines
from forklake.crucible.sessions.failures import as_error
from forklake.crucible.sessions.fetching import fetched
from forklake.crucible.sessions.guard import AccessGuard
from forklake.crucible.sessions.pooled import PooledSession
from forklake.crucible.sessions.rows import Spool
from forklake.crucible.sessions.statements import Request, Statement
from forklake.crucible.sessions.watchdog import Watchdog
from forklake.errors import Cancelled, InvalidInput, NotFound, QuotaExceeded
from forklake.spark.calculator import interrupt
from forklake.spark.names import joined_name

if TYPE_CHECKING:
    from forklake.spark.attachments import Attachment

MOST_WAITING = 32
MOST_KEPT = 25  # statements that have ended, with their rows
_KEPT_ANSWERS = 2  # of the greatest size, or more smaller ones
_ENDING_SECONDS = 10.0
_PATIENCE = 0.2  # seconds between looks at a thread that ends


class ServedSession:
    """What a caller has opened. One statement runs at a time; the others wait in a row."""

    def __init__(
        self,
        session_id: str,
        caller: Caller,
        guard: AccessGuard,
        engines: Engines,
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
            target=self._work, name=f"forklake-session-{session_id[:6]}", daemon=True
        )

    # Its life

    def open(self, catalog: str, alias: str | None, snapshot: int | None) -> None:
        """Attach and use its catalog, and take statements from now on."""
        with self._guard.acting(self.owner):
            self.session.attach(catalog, alias, snapshot_version=snapshot)
            self.session.use(joined_name([alias or catalog]))
        self._thread.start()

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing has run or been asked for some seconds."""
        with self._changed:
            return not self._current() and self._clock() - self._last_use > seconds

    def touch(self) -> None:
        """Somebody asked for it."""
        self._last_use = self._clock()

    def end(self) -> None:
        """Stop what runs, take no more, and let the thread roll back and close."""
        with self._changed:
            self._is_closing = True
            left = self._current()
            self._changed.notify()
        for statement in left:
            self.stop(statement, Cancelled("The session was closed.", remedy="Open another."))

    def closed(self, seconds: float = _ENDING_SECONDS) -> bool:
        """Whether the thread has ended, within some seconds."""
        if self._thread.ident is None:
            self._close()
        deadline = time.monotonic() + seconds
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._thread.join(_PATIENCE)
            self.press()
        return not self._thread.is_alive()

    @property
    def has_thread(self) -> bool:
        """Whether its thread runs: also after its end, until what it does has ended."""
        return self._thread.is_alive()

    def attached(self) -> list[Attachment]:
        """The catalogs that it has attached, whether or not they may still be read."""
        return self._guard.attachments.known()

    # Statements

    def submit(self, request: Request) -> Statement:
        """Put a statement at the end of the row."""
        with self._changed:
            if self._is_closing:
                raise InvalidInput("The session is being closed.", remedy="Open another.")
            if len(self._waiting) >= MOST_WAITING:
                raise QuotaExceeded(
                    f"{MOST_WAITING} statements of this session wait already.",
                    remedy="Wait for some of them.",
                )
            self._count += 1
            statement = Statement(self._count, request)
            self._statements[statement.number] = statement
            self._waiting.append(statement)
            self.touch()
            self._changed.notify()
        return statement

    def statement(self, number: int) -> Statement:
        """A statement by its number."""
        found = self._statements.get(number)
        if found is None:
            raise NotFound(
                f"There is no statement {number} in this session.",
                remedy=f"Statements are kept until {MOST_KEPT} others have ended.",
            )
        return found

    def statements(self) -> list[Statement]:
        """Those that are kept, oldest first."""
        with self._changed:
            return list(self._statements.values())

    def cancel(self, number: int) -> Statement:
        """Stop a statement. What it has committed stays."""
        statement = self.statement(number)
        self.stop(statement, Cancelled("The statement was cancelled.", reason="cancelled"))
        return statement

    def press(self) -> None:
        """Stop the statement that runs if its time is over; again, if it was to stop before.

        Spark stops the jobs of a group that run, and only some of those that are yet to come.
        """
        for statement in self._current():
            is_overdue = statement.deadline is not None and self._clock() > statement.deadline
            if is_overdue or statement.stopping is not None:
                self.stop(statement, statement.stopping or _overdue(statement.request.seconds))

    def stop(self, statement: Statement, reason: Cancelled) -> None:
        """Make a statement end, wherever it is: in Spark, in DuckDB or here."""
        if statement.stop(reason):
            group, thread = self._group(statement), self._thread.ident or 0
            self._watchdog.watch(group, self.session, thread, lambda: statement.has_ended)
            self.session.stop_group(group)
            interrupt(thread)

    def _current(self) -> list[Statement]:
        return [one for one in self.statements() if not one.has_ended]

    def _group(self, statement: Statement) -> str:
        return f"forklake-{self.session_id}-{statement.number}"

    # The worker

    def _work(self) -> None:
        try:
            while (statement := self._next()) is not None:
                if statement.start(self._clock()):
                    self._run(statement)
                self._forget_oldest()
                self.touch()
        finally:
            self._close()

    def _next(self) -> Statement | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            return self._waiting.popleft() if self._waiting and not self._is_closing else None

    def _run(self, statement: Statement) -> None:
        request, group = statement.request, self._group(statement)
        try:
            with (
                self._guard.acting(request.caller, statement.proceed),
                self.session.noticing_death(),
            ):
                self.session.begin_group(group)
                result = self.session.execute(
                    request.sql, request.parameters, dialect=request.dialect
                )
                rows = fetched(result, self._spool, self._most_bytes)
            statement.succeed(result.kind, rows)
        except Exception as reason:  # noqa: BLE001 - whatever it is, it ends this statement only
            statement.fail(statement.stopping or as_error(reason))
            self.session.stop_group(group)  # some may still run

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
            with self._guard.acting(self.owner):
                self.session.close()
        except Exception as reason:  # noqa: BLE001 - nobody is there to be told
            as_error(reason)


def _overdue(seconds: float) -> Cancelled:
    return Cancelled(
        f"The statement took longer than {seconds:g} seconds.",
        remedy="Give it more time, or less to do.",
        reason="timeout",
    )
