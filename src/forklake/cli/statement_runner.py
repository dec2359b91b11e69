"""Execution of statements with a progress display, which Ctrl-C can cancel."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol

from forklake.cli.output import make_console
from forklake.cli.results import FetchedResult, RowFormat, fetch_result
from forklake.cli.scripts import Script, add_position
from forklake.errors import Cancelled
from forklake.sql.parameters import Parameters
from forklake.sql.session import Session

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine
    from forklake.sql.results import Result

_INTERVAL = 0.2  # seconds between two checks of a running statement
_INTERRUPTED = 130  # exit code after Ctrl-C
# Spark modules import each other in cycles: two threads that import them at once would deadlock.
_import_lock = threading.Lock()


class CommandSession(Session):
    """Session that displays the start of Spark, which takes seconds and can be cancelled."""

    _starting: WarmUp | None = None

    @property
    def engine(self) -> Engine:
        """Spark engine of this session. It is started on first access."""
        from forklake.engines.spark.jobs import is_up

        if self._engine is None:
            with nullcontext() if is_up() else _show_status("Starting Spark …"):
                self._wait_for_spark()
        return super().engine

    def cancel_start(self) -> None:
        """Cancel the wait of a statement for Spark, which goes on starting for the next one."""
        if self._starting is not None:
            self._starting.cancel_waiting()

    def close(self) -> None:
        """Close the session and release the Spark that was started for it."""
        super().close()
        if self._starting is not None:
            self._starting.close()

    def _wait_for_spark(self) -> None:
        """Start Spark in another thread and wait: only the waiting thread can be interrupted."""
        if self._starting is None or self._starting.has_failed:
            self._starting = WarmUp()
            self._starting.start()
        self._starting.wait()


class SessionWithoutSpark(Protocol):
    """Interface that the runner and the shell need of sessions that are not Spark sessions."""

    @property
    def current(self) -> tuple[str, ...] | None:
        """Catalog and schema in which names are resolved."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def run(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Iterator[Result]:
        """Run statements in order, each one when its result is requested."""

    def cancel(self) -> None:
        """Cancel the running statement."""

    def fork(self, parent: str, name: str, *, attach_as: str) -> object:
        """Fork a catalog and attach the fork."""

    def use(self, name: str) -> None:
        """Resolve names in another catalog from now on."""


def _show_status(text: str) -> AbstractContextManager[Any]:
    console = make_console(sys.stderr)
    return console.status(text) if console.is_terminal else nullcontext()


class StatementRunner:
    """Runner of scripts in a separate thread, so that Ctrl-C reaches the thread that waits."""

    def __init__(self, session: Session | SessionWithoutSpark) -> None:
        self.session = session
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="forklake-statement")
        # Start the thread now: Ctrl-C during its start would leave the pool's count wrong.
        self._thread.submit(bool).result()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def run(
        self, script: Script, parameters: Parameters, row_format: RowFormat, limit: int | None
    ) -> Iterator[tuple[FetchedResult, float]]:
        """Yield the answer to each statement with its seconds.

        An error ends the run, and its details name the statement.
        """
        statements = script.check()
        results = self.session.run(script.text, parameters, dialect=script.dialect)

        def fetch_next() -> FetchedResult:
            with _import_lock:
                pass
            return fetch_result(next(results), row_format, limit)

        for statement in statements:
            began = time.perf_counter()
            with add_position(script, statement, is_alone=len(statements) == 1):
                result = self._run_in_thread(fetch_next)
            yield result, time.perf_counter() - began

    def _run_in_thread(self, work: Callable[[], FetchedResult]) -> FetchedResult:
        """Return the result of work in the thread. Ctrl-C cancels it; a second one exits."""
        task: Future[FetchedResult] | None = None
        try:
            task = self._thread.submit(work)
            # Wait with a timeout: an endless wait misses signals that other threads receive.
            while not task.done():
                wait([task], _INTERVAL)
        except KeyboardInterrupt:
            self._stop()
            if task is None or task.exception() is not None:
                raise
        return task.result()

    def _cancel(self) -> None:
        if not isinstance(self.session, Session):
            self.session.cancel()
            return
        if isinstance(self.session, CommandSession):
            self.session.cancel_start()
        from forklake.engines.spark.jobs import cancel_jobs

        cancel_jobs()

    def _stop(self) -> None:
        """Cancel the work of the thread until it is idle."""
        try:
            idle = self._thread.submit(bool)
            while not idle.done():
                self._cancel()  # again: a statement may have several jobs, one after another
                wait([idle], _INTERVAL)
        except KeyboardInterrupt:
            os._exit(_INTERRUPTED)


class WarmUp(threading.Thread):
    """Thread that starts Spark in advance, so that the first statement that needs it is fast."""

    def __init__(self) -> None:
        super().__init__(name="forklake-start", daemon=True)
        self._engine: Engine | None = None
        self._is_cancelled = threading.Event()

    def run(self) -> None:
        with suppress(Exception):  # the first statement that needs Spark raises the error again
            with _import_lock:
                from forklake.engines.spark.engine import Engine

            self._engine = Engine.start()

    @property
    def has_failed(self) -> bool:
        """Whether the thread has ended without starting Spark."""
        return not self.is_alive() and self._engine is None

    def wait(self) -> None:
        """Wait until Spark has started or failed to. Raise Cancelled if the wait is cancelled."""
        self._is_cancelled.clear()
        while self.is_alive():
            if self._is_cancelled.is_set():
                raise Cancelled("The statement was cancelled while Spark was starting.")
            self.join(_INTERVAL)

    def cancel_waiting(self) -> None:
        """Make the waiting thread raise Cancelled."""
        self._is_cancelled.set()

    def close(self) -> None:
        """Release Spark. It stops when no other session uses it."""
        if self._engine is not None:
            self._engine.close()
