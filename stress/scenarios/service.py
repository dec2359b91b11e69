"""Scenario with forks over HTTP while the service is killed: answered requests are not lost."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
from tests.concurrency.writers import make_catalog
from tests.fix_metastore import Place

from forklake import Catalog, client
from forklake.client.catalogs import RemoteCatalog
from forklake.client.client import Client
from stress.crews import read_journals
from stress.faults import Restartable
from stress.scenarios.scenario import Scenario
from stress.workers import Role, Worker

PARENT = "parent"
_START_SECONDS = 60.0
_FORK_PER = "request"
_LAST = 2  # requests of each worker after the last fault


class Process:
    """Service in its own process, always at the same address."""

    def __init__(self, place: Place, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self._place = place
        self._log = folder / "service.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the service and wait until it answers."""
        command = [sys.executable, "-m", "forklake.cli.main", "-m", self._place.uri]
        if self._place.metadata_schema is not None:
            command += ["--metadata-schema", self._place.metadata_schema]
        command += ["serve", "--port", str(self._port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.address}/health/live", trust_env=False)
                return
            time.sleep(0.05)
        raise RuntimeError(f"the service does not start: {self._log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kill the service."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@dataclass
class Service(Scenario):
    """Clients that fork, change and drop through a service that is killed repeatedly."""

    name = "service"
    backends = ("postgresql",)
    faults = ("killed worker", "killed server", "killed service", "full disk of the server")
    address: str = field(default="")

    def prepare(self) -> None:
        with self.ground.place.open() as metastore:
            make_catalog(metastore, PARENT)

    @contextmanager
    def service(self) -> Iterator[Restartable]:
        process = Process(self.ground.place, self.ground.folder)
        process.start()
        self.address = process.address
        try:
            yield process
        finally:
            process.kill()

    def roles(self) -> list[Role]:
        return [Requester(self.address) for _ in range(self.size.workers)]

    def verify(self, journals: Path) -> Iterator[str]:
        done: dict[str, set[str]] = {kind: set() for kind in ("fork", "table", "drop", "schema")}
        doomed: set[str] = set()  # a drop was requested, and may have succeeded without an answer
        for record in read_journals(journals):
            if record["kind"] == "doomed":
                doomed.add(record["name"])
            elif record["kind"] in done and record["outcome"] == "ok":
                done[record["kind"]].add(record["name"])
        self.facts |= {f"{kind} answered": len(names) for kind, names in done.items()}
        with self.ground.place.open() as metastore:
            rows = {row.catalog_name: row for row in metastore.all_catalogs(prefix=_FORK_PER)}
            for name in done["fork"] - doomed - rows.keys():
                yield f"the fork {name} was answered and does not exist"
            for name in done["drop"] & rows.keys():
                yield f"the fork {name} was dropped and still exists"
            for name in done["table"] & rows.keys():
                if not Catalog(metastore, rows[name]).refresh().tables("main"):
                    yield f"the table of {name} is missing"
            state = metastore.catalog(PARENT).refresh()
            for name in done["schema"] - {one.schema_name for one in state.schemas()}:
                yield f"the schema {name} was answered and does not exist"


@dataclass(frozen=True)
class Requester:
    """Role that forks for each request, works in the fork, and keeps or drops it."""

    address: str

    def __call__(self, worker: Worker) -> None:
        os.environ["NO_PROXY"] = "127.0.0.1"
        with client.connect(self.address, seconds=30.0) as lake:
            for number in worker.turns():
                name = f"{_FORK_PER}-{worker.name}-{number}"
                if worker.attempt("fork", _forking(lake, name), name=name) is not None:
                    self._work(worker, lake, name, number)
            # After the last fault, all requests must succeed again.
            for number in range(_LAST):
                name = f"{_FORK_PER}-{worker.name}-last-{number}"
                worker.persist("fork", _forking(lake, name), name=name)

    def _work(self, worker: Worker, lake: Client, name: str, number: int) -> None:
        fork = worker.attempt("look", partial(lake.catalog, name))
        if fork is None:
            return
        table = partial(fork.create_table, "t", [("id", "bigint")], if_not_exists=True)
        worker.attempt("table", table, name=name)
        if number % 10 == 0:
            worker.attempt("schema", partial(_make_schema, lake, name), name=name)
        if number % 3:
            worker.note("doomed", name=name)
            worker.attempt("drop", partial(_drop, lake, name), name=name)


def _forking(lake: Client, name: str) -> Callable[[], RemoteCatalog]:
    return partial(lake.fork, PARENT, name, if_not_exists=True)


def _make_schema(lake: Client, name: str) -> str:
    lake.catalog(PARENT).create_schema(name, if_not_exists=True)
    return name


def _drop(lake: Client, name: str) -> str:
    lake.drop_catalog(name, if_exists=True)
    return name
