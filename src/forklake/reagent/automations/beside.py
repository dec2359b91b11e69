"""Runners on threads of their own, beside whatever else a process does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from forklake.reagent.automations.running import Runner


@contextmanager
def beside(runner: Runner, threads: int, *, patience: float | None = None) -> Iterator[None]:
    """Run what is due, so many firings at once, for as long as the block lasts.

    At its end the firings under way are waited for; with `patience` no longer than so many
    seconds, after which they are left to the next runner.
    """
    stop = threading.Event()
    started = [
        threading.Thread(target=runner.run_until, args=(stop,), name="automations", daemon=True)
        for _ in range(threads)
    ]
    for thread in started:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        until = None if patience is None else time.monotonic() + patience
        for thread in started:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
