"""Running statements so that Ctrl-C cancels them in every phase."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from forklake.cli.results import RowFormat
from forklake.cli.scripts import Script
from forklake.cli.statement_runner import CommandSession, StatementRunner, WarmUp
from forklake.engines.spark import jobs
from forklake.errors import InvalidInput
from forklake.sql.results import Result
from forklake.sql.session import Session


def test_ctrl_c_cancels_whichever_thread_receives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, waiting = threading.Event(), threading.get_ident()
    in_time: list[bool] = []
    monkeypatch.setattr(jobs, "cancel_jobs", cancelled.set)

    def statements(*_: Any, **__: Any) -> Iterator[Any]:
        while sys._current_frames()[waiting].f_code.co_name != "wait":
            time.sleep(0.001)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        in_time.append(cancelled.wait(30))
        raise InvalidInput("It was stopped.")
        yield  # makes this a generator

    with Session() as session, closing(StatementRunner(session)) as runner:
        monkeypatch.setattr(session, "run", statements)
        with pytest.raises(KeyboardInterrupt):
            next(runner.run(Script("SELECT 1"), None, RowFormat.TABLE, None))
    assert in_time == [True]


def test_ctrl_c_ends_the_wait_for_spark_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    starting, is_up = threading.Event(), threading.Event()
    main = threading.get_ident()

    def start(_: WarmUp) -> None:
        starting.set()
        is_up.wait(60)

    monkeypatch.setattr(WarmUp, "run", start)
    monkeypatch.setattr(jobs, "is_up", is_up.is_set)
    monkeypatch.setattr(jobs, "cancel_jobs", lambda: None)
    monkeypatch.setattr(CommandSession, "_start_engine", lambda _: Started())
    with CommandSession() as session, closing(StatementRunner(session)) as runner:

        def statements(*_: Any, **__: Any) -> Iterator[Result]:
            assert session.engine is not None
            yield Result("SELECT", pa.table({"n": [1]}))

        def interrupt() -> None:
            starting.wait(60)
            signal.pthread_kill(main, signal.SIGINT)

        monkeypatch.setattr(session, "run", statements)
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            next(runner.run(Script("SELECT 1"), None, RowFormat.TABLE, None))
        interrupting.join()
        assert not is_up.is_set()  # Spark still starts, for the next statement
        is_up.set()
        answer, _ = next(runner.run(Script("SELECT 1"), None, RowFormat.TABLE, None))
        assert answer.rows.num_rows == 1


class Started:
    """A running Spark."""

    has_died = False

    def close(self) -> None:
        """Do nothing."""
