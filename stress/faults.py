"""Faults that can be injected during a round, and the thread that injects them."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Protocol

import psutil
import psycopg

from stress.crews import Crew
from stress.grounds import Ground, Server

_FULL_SECONDS = 0.5
_RECOVERY_SECONDS = 60.0
# Errors that can occur while a fault is injected or repaired.
_MISHAPS = (OSError, RuntimeError, subprocess.SubprocessError, psutil.Error, psycopg.Error)
_UNLIMITED = (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY)


class Restartable(Protocol):
    """Process besides the workers that can be killed and restarted."""

    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True)
class Scene:
    """Targets of faults in a round."""

    ground: Ground
    crew: Crew
    random: Random
    service: Restartable | None = None

    @property
    def server(self) -> Server:
        """Database server. Fails if the round has none."""
        assert self.ground.server is not None
        return self.ground.server


class Happened(NamedTuple):
    """Fault that was injected, with its begin and end."""

    what: str
    began: float
    ended: float


def kill_worker(scene: Scene) -> None:
    """Kill a worker."""
    scene.crew.kill_one(scene.random)


def cut_connections(scene: Scene) -> None:
    """Break all connections through the proxy, with whatever is in progress on them."""
    scene.server.proxy.cut()


def kill_server(scene: Scene) -> None:
    """Kill and restart the database server."""
    scene.server.postgres.kill()
    scene.server.postgres.start()


def fill_disk(scene: Scene) -> None:
    """Let no worker write to files for a while."""
    _limited_files(scene.crew.pids)


def fill_disk_of_server(scene: Scene) -> None:
    """Let the database server not write to files for a while. It crashes and recovers."""
    with suppress(psutil.Error, psycopg.Error):
        _limited_files([process.pid for process in _postmaster(scene.server).children()])
    await_server(scene.server)


def kill_service(scene: Scene) -> None:
    """Kill and restart the service."""
    assert scene.service is not None
    scene.service.kill()
    scene.service.start()


@dataclass(frozen=True)
class Fault:
    """Fault with its relative frequency and the condition under which it is possible."""

    cause: Callable[[Scene], None]
    weight: int
    is_possible: Callable[[Scene], bool] = field(default=lambda scene: True)


def _has_server(scene: Scene) -> bool:
    return scene.ground.server is not None


FAULTS: dict[str, Fault] = {
    "killed worker": Fault(kill_worker, 6),
    "cut connections": Fault(cut_connections, 4, _has_server),
    "killed server": Fault(kill_server, 2, _has_server),
    "full disk": Fault(fill_disk, 2),
    "full disk of the server": Fault(fill_disk_of_server, 1, _has_server),
    "killed service": Fault(kill_service, 4, lambda scene: scene.service is not None),
}


class Mischief(threading.Thread):
    """Thread that injects one fault after another until it is ended."""

    def __init__(self, scene: Scene, every: float, names: Sequence[str] = ()) -> None:
        super().__init__(name="mischief")
        self._scene = scene
        self._every = every
        chosen = {name: FAULTS[name] for name in names or FAULTS}
        self._possible = {name: one for name, one in chosen.items() if one.is_possible(scene)}
        self._is_over = threading.Event()
        self.happened: list[Happened] = []
        self.problems: list[str] = []

    def run(self) -> None:
        """Inject each possible fault once in random order, then random ones."""
        random = self._scene.random
        due = random.sample(list(self._possible), len(self._possible))
        weights = [one.weight for one in self._possible.values()]
        while not self._is_over.wait(self._every * random.uniform(0.5, 1.5)):
            (name,) = [due.pop()] if due else random.choices(list(self._possible), weights)
            began = time.monotonic()
            try:
                self._possible[name].cause(self._scene)
            except _MISHAPS as reason:
                self.problems.append(f"the fault {name!r} could not be repaired: {reason!r}")
            self.happened.append(Happened(name, began, time.monotonic()))

    def end(self) -> None:
        """Stop injecting faults. Return when the last one is repaired."""
        self._is_over.set()
        self.join()


def _limited_files(pids: Sequence[int]) -> None:
    """Limit the size of files that processes can write for a moment, as a full disk would."""
    for limit in ((0, psutil.RLIM_INFINITY), _UNLIMITED):
        for pid in pids:
            with suppress(psutil.Error):
                psutil.Process(pid).rlimit(psutil.RLIMIT_FSIZE, limit)
        time.sleep(_FULL_SECONDS)


def _postmaster(server: Server) -> psutil.Process:
    with psycopg.connect(server.postgres.dsn()) as connection:
        found = psutil.Process(connection.info.backend_pid).parent()
    assert found is not None
    return found


def await_server(server: Server) -> None:
    """Wait until the server accepts connections. Restart it if it does not recover itself."""
    deadline = time.monotonic() + _RECOVERY_SECONDS
    while time.monotonic() < deadline:
        if not server.postgres.running:
            server.postgres.kill()
            server.postgres.start()
        with suppress(psycopg.OperationalError):
            psycopg.connect(server.postgres.dsn(), connect_timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError("the PostgreSQL server does not accept connections again")
