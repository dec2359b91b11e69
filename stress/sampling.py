"""Samples: what the processes and the server take, second by second, for as long as it goes on."""

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
    """One look. Memory is in megabytes; what could not be learnt is None."""

    at: float
    driver_memory: float
    workers: int
    worker_memory: float  # of the largest one
    connections: int | None
    files: int  # that the driver has open


class Sampler(threading.Thread):
    """Takes a sample every so often."""

    def __init__(self, server: Server | None, every: float = 1.0) -> None:
        super().__init__(name="sampler", daemon=True)
        self._server = server
        self._every = every
        self._is_over = threading.Event()
        self._self = psutil.Process(os.getpid())
        self._files: int | None = None  # least number of open files between rounds
        self.crew: Crew | None = None
        self.samples: list[Sample] = []

    def run(self) -> None:
        """Take samples until told to end."""
        while not self._is_over.wait(self._every):
            self.samples.append(self.taken())

    def end(self) -> None:
        """Take no more samples."""
        self._is_over.set()
        self.join()

    def at_rest(self) -> Sample:
        """A sample between rounds, once what they held had time to go."""
        deadline = time.monotonic() + _REST_SECONDS
        while self._holds_more(found := self.taken()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._files = min(found.files, self._files or found.files)
        return found

    def _holds_more(self, found: Sample) -> bool:
        """Whether anything is open that was not, at the best of times, between rounds."""
        return bool(found.connections) or found.files > (self._files or found.files)

    def taken(self) -> Sample:
        """A sample of now."""
        crew = self.crew  # it may be gone the next moment
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
