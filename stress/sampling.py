"""Samples of the resources that the processes and the server use, taken every second."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

import psutil
import psycopg

from stress.crews import Crew
from stress.grounds import Server

_CONNECTIONS = "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
_MEGABYTE = 2**20
_REST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Resources at one time. Memory is in megabytes. None stands for unknown."""

    at: float
    driver_memory: float
    workers: int
    worker_memory: float  # of the largest one
    connections: int | None
    files: int  # open files of the driver


class Sampler(threading.Thread):
    """Thread that takes samples at regular intervals."""

    def __init__(self, server: Server | None, every: float = 1.0) -> None:
        super().__init__(name="sampler", daemon=True)
        self._server = server
        self._every = every
        self._is_over = threading.Event()
        self._self = psutil.Process(os.getpid())
        self._files: int | None = None  # minimum number of open files between rounds
        self.crew: Crew | None = None
        self.samples: list[Sample] = []

    def run(self) -> None:
        """Take samples until the sampler is ended."""
        while not self._is_over.wait(self._every):
            self.samples.append(self.taken())

    def end(self) -> None:
        """Stop taking samples."""
        self._is_over.set()
        self.join()

    def at_rest(self) -> Sample:
        """Return a sample between rounds, after waiting for resources to be released."""
        deadline = time.monotonic() + _REST_SECONDS
        while self._holds_more(found := self.taken()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._files = min(found.files, self._files or found.files)
        return found

    def _holds_more(self, found: Sample) -> bool:
        """Return whether more is open than in the best sample between rounds."""
        return bool(found.connections) or found.files > (self._files or found.files)

    def taken(self) -> Sample:
        """Return a sample of the current state."""
        crew = self.crew  # read once: the main thread may reset it at any time
        sizes = [_memory(pid) for pid in (crew.pids if crew else ())]
        return Sample(
            time.monotonic(),
            self._self.memory_info().rss / _MEGABYTE,
            len(sizes),
            max(sizes, default=0.0),
            self._connections(),
            self._self.num_fds(),
        )

    def _connections(self) -> int | None:
        if self._server is None or not self._server.postgres.running:
            return None
        with (
            suppress(psycopg.Error),
            psycopg.connect(self._server.postgres.dsn(), connect_timeout=2) as connection,
        ):
            return int(connection.execute(_CONNECTIONS).fetchall()[0][0])
        return None


def _memory(pid: int) -> float:
    with suppress(psutil.Error):
        return float(psutil.Process(pid).memory_info().rss) / _MEGABYTE
    return 0.0
