"""Crews: the worker processes of a round. Killed workers are replaced, failures are reported."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

import psutil
from tests.concurrency.processes import CONTEXT

from stress.workers import Role, Worker, work

Record = dict[str, Any]
# Every fourth worker has a clock that is wrong by an hour, alternately fast and slow.
CLOCK_ERRORS = (0, 0, 0, 1, 0, 0, 0, -1)
_PATIENCE_SECONDS = 600.0


@dataclass
class _Post:
    """Role and the process that currently performs it."""

    role: Role
    worker: Worker
    process: BaseProcess


def warm_up() -> None:
    """Start the fork server of all processes in advance, as its imports take long."""
    first = CONTEXT.Process(target=_do_nothing)
    first.start()
    first.join()


def _do_nothing() -> None: ...


class Crew:
    """Worker processes, one for each role, that run until a deadline or until they are done."""

    def __init__(
        self, roles: Sequence[Role], folder: Path, until: float, *, seed: str = ""
    ) -> None:
        self._folder = folder
        self._until = until
        self._seed = seed
        self.problems: list[str] = []
        self.pids: list[int] = []  # processes that were alive at the last check
        self._posts = [self._hired(role, number, 0) for number, role in enumerate(roles)]

    def _hired(self, role: Role, number: int, life: int) -> _Post:
        error = timedelta(hours=CLOCK_ERRORS[number % len(CLOCK_ERRORS)])
        if getattr(role, "needs_right_clock", False):
            error = timedelta()
        journal = self._folder / f"journal-{number}-{life}.jsonl"
        worker = Worker(number, life, journal, self._until, error, self._seed)
        process = CONTEXT.Process(target=work, args=(role, worker), daemon=True)
        process.start()
        return _Post(role, worker, process)

    def is_at_work(self) -> bool:
        """Replace killed workers; return whether any worker still runs.

        Call it from one thread only: if two threads wait for the same process, one of them gets a
        wrong exit code.
        """
        for place, post in enumerate(self._posts):
            if post.process.exitcode == -signal.SIGKILL:
                worker = post.worker
                self._posts[place] = self._hired(post.role, worker.number, worker.life + 1)
        alive = (post.process for post in self._posts if post.process.exitcode is None)
        self.pids = [process.pid for process in alive if process.pid is not None]
        if time.monotonic() > self._until + _PATIENCE_SECONDS:
            raise TimeoutError("the workers of a round do not end")
        return bool(self.pids)

    def kill_one(self, random: Random) -> None:
        """Kill a random running worker."""
        if alive := self.pids:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(random.choice(alive)).kill()

    def end(self) -> None:
        """End the remaining workers, and record workers that failed."""
        self.pids = []
        for post in self._posts:
            if (code := post.process.exitcode) not in (None, 0):
                self.problems.append(f"worker {post.worker.name} ended with {code}")
            post.process.kill()
            post.process.join()


def read_journals(folder: Path) -> Iterator[Record]:
    """Yield the records of all journals of a round. Skip lines that were cut by a kill."""
    for path in sorted(folder.glob("journal-*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield json.loads(line)
