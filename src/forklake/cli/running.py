"""Running statements for people: what they may stop, and what they see meanwhile."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol

from forklake.cli.output import console_for
from forklake.cli.results import Answer, Form, fetched
from forklake.cli.scripts import Script, located
from forklake.errors import Cancelled
from forklake.sql.parameters import Parameters
from forklake.sql.session import Session

if TYPE_CHECKING:
    from forklake.spark.engine.engine import Engine
    from forklake.sql.results import Result

_INTERVAL = 0.2  # seconds between looks at a statement that runs
_INTERRUPTED = 130  # the exit code of whoever was stopped by Ctrl-C
# Modules of Spark import each other in circles, which two threads cannot do at once.
_loading = threading.Lock()


class WatchedSession(Session):
    """A session that shows when it starts Spark, which takes seconds and can be given up."""

    _starting: WarmUp | None = None

    @property
    def engine(self) -> Engine:
        """Spark, as this session uses it."""
        from forklake.spark.engine.jobs import is_up

        if self._engine is None:
            with nullcontext() if is_up() else _status("Starting Spark …"):
                self._wait_for_spark()
        return super().engine

    def cancel_start(self) -> None:
        """End the wait of a statement for Spark. Spark goes on starting, for the next one."""
        if self._starting is not None:
            self._starting.cancel_waiting()

    def close(self) -> None:
        """Close the session, and let go of the Spark that was started for it."""
        super().close()
        if self._starting is not None:
            self._starting.close()

    def _wait_for_spark(self) -> None:
        """Wait on this thread while another one starts Spark: only this one can be interrupted."""
        if self._starting is None or self._starting.has_failed:
            self._starting = WarmUp()
            self._starting.start()
        self._starting.wait()


class OtherSession(Protocol):
    """What a session is to those who run statements for people, where it is not one of ours."""

    @property
    def current(self) -> tuple[str, ...] | None:
        """Where names are looked up."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def run(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb"
    ) -> Iterator[Result]:
        """Run statements one after the other, each when its answer is asked for."""

    def cancel(self) -> None:
        """Stop what runs."""

    def fork(self, parent: str, name: str, *, attach_as: str) -> object:
        """Fork a catalog and attach the fork."""

    def use(self, name: str) -> None:
        """Look names up in a catalog from now on."""


def _status(text: str) -> AbstractContextManager[Any]:
    console = console_for(sys.stderr)
    return console.status(text) if console.is_terminal else nullcontext()


class Runner:
    """Runs scripts on a thread of their own, so that Ctrl-C reaches whoever waits for them."""

    def __init__(self, session: Session | OtherSession) -> None:
        self.session = session
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="forklake-statement")
        self._thread.submit(bool).result()  # Ctrl-C during its start would leave it uncounted

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def run(
        self, script: Script, parameters: Parameters, form: Form, limit: int | None
    ) -> Iterator[tuple[Answer, float]]:
        """The answers to the statements, each with its seconds, as they come.

        After an error, which says what statement it is about, none of the others runs.
        """
        statements = script.check()
        results = self.session.run(script.text, parameters, dialect=script.dialect)

        def answered() -> Answer:
            with _loading:
                pass
            return fetched(next(results), form, limit)

        for statement in statements:
            began = time.perf_counter()
            with located(script, statement, is_alone=len(statements) == 1):
                answer = self._finished(answered)
            yield answer, time.perf_counter() - began

    def _finished(self, work: Callable[[], Answer]) -> Answer:
        """What work on the thread comes to. Ctrl-C stops it; another one ends this process."""
        task: Future[Answer] | None = None
        try:
            task = self._thread.submit(work)
            # Waiting without an end would miss a signal that another thread was given.
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
        if isinstance(self.session, WatchedSession):
            self.session.cancel_start()
        from forklake.spark.engine.jobs import cancel_jobs

        cancel_jobs()

    def _stop(self) -> None:
        """Cancel what the thread does until it is idle."""
        try:
            idle = self._thread.submit(bool)
            while not idle.done():
                self._cancel()  # a statement may have several, one after the other
                wait([idle], _INTERVAL)
        except KeyboardInterrupt:
            os._exit(_INTERRUPTED)


class WarmUp(threading.Thread):
    """Starts Spark in the background, so that the first statement that needs it is quick."""

    def __init__(self) -> None:
        super().__init__(name="forklake-start", daemon=True)
        self._engine: Engine | None = None
        self._is_cancelled = threading.Event()

    def run(self) -> None:
        with suppress(Exception):  # the statement that needs Spark will tell
            with _loading:
                from forklake.spark.engine.engine import Engine

            self._engine = Engine.start()

    @property
    def has_failed(self) -> bool:
        """Whether it has ended without a Spark."""
        return not self.is_alive() and self._engine is None

    def wait(self) -> None:
        """Wait until Spark has started, or failed to; Cancelled if the wait is given up."""
        self._is_cancelled.clear()
        while self.is_alive():
            if self._is_cancelled.is_set():
                raise Cancelled("The statement was cancelled while Spark was starting.")
            self.join(_INTERVAL)

    def cancel_waiting(self) -> None:
        """Raise Cancelled in the thread that waits."""
        self._is_cancelled.set()

    def close(self) -> None:
        """Let go of Spark, which goes when nobody else has it."""
        if self._engine is not None:
            self._engine.close()
