"""Crews: processes that repeat the same small operation concurrently, as fast as possible."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

_HEAD_START_SECONDS = 0.2
_READY_SECONDS = 180
_FARTHEST_END_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Work:
    """Operation that a process repeats, the errors that count as failures, and its clean-up."""

    operation: Callable[[], object]
    errors: tuple[type[BaseException], ...] = ()
    close: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class Stint:
    """Result of one process in one round."""

    seconds: list[float]
    failures: list[str]
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Round:
    """Results of all processes in one round of `duration` seconds."""

    duration: float
    stints: Sequence[Stint]

    @property
    def count(self) -> int:
        """Number of operations that succeeded."""
        return sum(len(stint.seconds) for stint in self.stints)

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.count / self.duration

    @property
    def failures(self) -> int:
        """Number of operations that failed."""
        return sum(len(stint.failures) for stint in self.stints)

    @property
    def spread(self) -> float:
        """Operations of the slowest process relative to the mean."""
        counts = [len(stint.seconds) for stint in self.stints]
        return min(counts) / statistics.mean(counts) if any(counts) else 0.0

    @property
    def client_cpu(self) -> float:
        """CPU seconds of the processes per operation."""
        return sum(stint.cpu_seconds for stint in self.stints) / max(1, self.count)

    def percentile(self, percent: int) -> float:
        """Return a percentile of the seconds per operation."""
        times = sorted(one for stint in self.stints for one in stint.seconds)
        return times[min(len(times) - 1, len(times) * percent // 100)] if times else float("nan")


class Crew:
    """Processes that are prepared, and idle between rounds."""

    def __init__(self, prepare: Callable[..., Work], arguments: Sequence[tuple[Any, ...]]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["benchmarks.writers", "benchmarks.postgres_rows"])
        self._lines: list[Connection] = []
        self._processes = []
        for one in arguments:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, prepare, one), daemon=True)
            process.start()
            theirs.close()
            self._lines.append(ours)
            self._processes.append(process)
        for line in self._lines:
            _answer(line, _READY_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, seconds: float) -> Round:
        """Run all processes for some seconds. Operations that end later do not count."""
        begin = time.monotonic() + _HEAD_START_SECONDS
        for line in self._lines:
            line.send((begin, seconds))
        stints = [_answer(line, seconds + _FARTHEST_END_SECONDS) for line in self._lines]
        return Round(seconds, stints)

    def close(self) -> None:
        """End all processes."""
        for line in self._lines:
            with suppress(BrokenPipeError):
                line.send(None)
        for process in self._processes:
            process.join(_FARTHEST_END_SECONDS)
            if process.is_alive():
                process.terminate()
        for line in self._lines:
            line.close()


def _answer(line: Connection, seconds: float) -> Any:
    if not line.poll(seconds):
        raise TimeoutError("a process of the crew does not answer")
    answer = line.recv()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _serve(line: Connection, prepare: Callable[..., Work], arguments: tuple[Any, ...]) -> None:
    try:
        work = prepare(*arguments)
    except Exception as reason:
        line.send(RuntimeError(f"a process of the crew failed to start: {reason!r}"))
        raise
    line.send("ready")
    while (order := line.recv()) is not None:
        line.send(_work(work, *order))
    work.close()


def _work(work: Work, begin: float, seconds: float) -> Stint:
    times: list[float] = []
    failures: list[str] = []
    operation, errors = work.operation, work.errors
    time.sleep(max(0.0, begin - time.monotonic()))
    before = time.process_time()
    now, end = time.monotonic(), begin + seconds
    while now < end:
        start = now
        try:
            operation()
        except errors as reason:
            failures.append(repr(reason)[:200])
            now = time.monotonic()
            continue
        now = time.monotonic()
        if now <= end:
            times.append(now - start)
    return Stint(times, failures, time.process_time() - before)
