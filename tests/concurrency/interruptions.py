"""Actions at the moment when an operation reaches a phase."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NoReturn

from forklake import Metastore
from forklake.store import phases
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS
from tests.concurrency.worlds import OPERATIONS
from tests.fix_metastore import Place

# The phases of each operation.
PHASES_OF = {
    operation: [
        phase
        for phase in phases.PHASES
        if phase.startswith("fork." if operation == "copy" else f"{operation}.")
    ]
    for operation in OPERATIONS
}
CASES = [(operation, phase) for operation, found in PHASES_OF.items() for phase in found]


@contextmanager
def once_at(phase: str, action: Callable[[], object]) -> Iterator[threading.Event]:
    """Run an action the first time that this process reaches a phase; the event records that."""
    happened = threading.Event()

    def observe(reached: str) -> None:
        if reached == phase and not happened.is_set():
            happened.set()
            action()

    phases.observer = observe
    try:
        yield happened
    finally:
        phases.observer = None


@contextmanager
def every_time_at(phase: str, action: Callable[[], object]) -> Iterator[None]:
    """Run an action whenever a phase is reached, but not for phases within the action."""
    is_busy = False

    def observe(reached: str) -> None:
        nonlocal is_busy
        if reached == phase and not is_busy:
            is_busy = True
            try:
                action()
            finally:
                is_busy = False

    phases.observer = observe
    try:
        yield
    finally:
        phases.observer = None


def killed_at(phase: str, place: Place, operation: str) -> None:
    """Run an operation in another process, then run it again and be killed at a phase."""
    process = CONTEXT.Process(target=_twice, args=(phase, place, operation))
    process.start()
    process.join(TIMEOUT_SECONDS)
    assert process.exitcode == -signal.SIGKILL


def _twice(phase: str, place: Place, operation: str) -> None:
    with place.open() as metastore:
        OPERATIONS[operation](metastore, 1)
        with once_at(phase, _die):
            OPERATIONS[operation](metastore, 2)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")


class Held:
    """An operation that runs in a thread and stops at a phase until it is released.

    Other threads pass the same phase without stopping.
    """

    def __init__(self, phase: str, action: Callable[[], object]) -> None:
        self._phase = phase
        self._action = action
        self._pool = ThreadPoolExecutor(1, initializer=self._begin)
        self._thread: threading.Thread | None = None
        self._arrived = threading.Event()
        self._may_go = threading.Event()

    def __enter__(self) -> Held:
        phases.observer = self._observe
        self._done = self._pool.submit(self._action)
        self._done.add_done_callback(lambda _: self._arrived.set())
        assert self._arrived.wait(TIMEOUT_SECONDS)
        assert not self._done.done(), f"it never reached {self._phase}: {self._done.result()}"
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        phases.observer = None

    def let_go(self) -> None:
        """Let the operation finish."""
        self._may_go.set()
        self._done.result(TIMEOUT_SECONDS)
        self._pool.shutdown()

    def _begin(self) -> None:
        self._thread = threading.current_thread()

    def _observe(self, phase: str) -> None:
        if phase == self._phase and threading.current_thread() is self._thread:
            self._arrived.set()
            assert self._may_go.wait(TIMEOUT_SECONDS)


def finish(metastore: Metastore, operation: str, first: int) -> None:
    """Run the remaining operations."""
    for number in range(first, 4):
        OPERATIONS[operation](metastore, number)
