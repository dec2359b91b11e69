"""Running statements so that Ctrl-C reaches whoever waits for them."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from forklake.cli.results import Form
from forklake.cli.running import Runner
from forklake.cli.scripts import Script
from forklake.errors import InvalidInput
from forklake.spark.engine import jobs
from forklake.sql.session import Session


def test_ctrl_c_is_seen_whichever_thread_is_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, waiting = threading.Event(), threading.get_ident()
    in_time: list[bool] = []
    monkeypatch.setattr(jobs, "cancel_jobs", cancelled.set)

    def statements(*_: Any, **__: Any) -> Iterator[Any]:
        while sys._current_frames()[waiting].f_code.co_name != "wait":
            time.sleep(0.001)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        in_time.append(cancelled.wait(30))
        raise InvalidInput("It was stopped.")
        yield  # what makes this an iterator

    with Session() as session, closing(Runner(session)) as runner:
        monkeypatch.setattr(session, "run", statements)
        with pytest.raises(KeyboardInterrupt):
            next(runner.run(Script("SELECT 1"), None, Form.TABLE, None))
    assert in_time == [True]
