"""Runner threads in the background of another program, such as the service."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from forklake.reagent.automations.runner import Runner


@contextmanager
def run_in_background(
    runner: Runner, threads: int, *, patience: float | None = None
) -> Iterator[None]:
    """Run due firings in background threads for the duration of the block.

    At the end, wait for running firings, with `patience` at most that many seconds. The leases of
    firings that are still running then expire, and other runners take them over.
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
