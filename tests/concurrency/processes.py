"""Concurrent jobs in processes or threads of their own."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing.synchronize import Barrier
from typing import TypeVar

T = TypeVar("T")
# A job calls its argument once it is ready, and the call returns when all the others are ready.
Start = Callable[[], object]
Job = Callable[[Start], T]

TIMEOUT_SECONDS = 60
# Processes begin as forks of one that has loaded everything and has nothing open.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "tests.concurrency.writers",
        "tests.delta.mirrored",
        "tests.fix_metastore",
        "psycopg_pool",
        "sqlite3",
    ]
)


def in_processes(jobs: Sequence[Job[T]], *, seconds: float = 2 * TIMEOUT_SECONDS) -> list[T]:
    """Run jobs at the same time, each in its own process, and return their results."""
    barrier = CONTEXT.Barrier(len(jobs), timeout=TIMEOUT_SECONDS)
    with ProcessPoolExecutor(len(jobs), CONTEXT, _remember, (barrier,)) as pool:
        return _results([pool.submit(_start_here, job) for job in jobs], seconds)


def in_threads(jobs: Sequence[Job[T]]) -> list[T]:
    """Run jobs at the same time in threads of this process, and return their results."""
    barrier = threading.Barrier(len(jobs), timeout=TIMEOUT_SECONDS)
    with ThreadPoolExecutor(len(jobs)) as pool:
        return _results([pool.submit(_run, job, barrier) for job in jobs], 2 * TIMEOUT_SECONDS)


def for_seconds(seconds: float) -> Iterator[int]:
    """Yield 0, 1, 2 … until the time is over."""
    deadline = time.monotonic() + seconds
    count = 0
    while time.monotonic() < deadline:
        yield count
        count += 1


def _results(futures: list[Future[T]], seconds: float) -> list[T]:
    for future in as_completed(futures, seconds):
        future.result()  # raise the error of the first one that fails
    return [future.result() for future in futures]


_barrier: Barrier


def _remember(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 (a process inherits it only when it begins)
    _barrier = barrier


def _start_here(job: Job[T]) -> T:
    return _run(job, _barrier)


def _run(job: Job[T], barrier: threading.Barrier | Barrier) -> T:
    try:
        return job(barrier.wait)
    except BaseException:
        barrier.abort()
        raise
