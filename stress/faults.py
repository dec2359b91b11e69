"""Faults: what goes wrong during a round, as a table, and a thread that lets it go wrong."""

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
# What may happen to a fault itself.
_MISHAPS = (OSError, RuntimeError, subprocess.SubprocessError, psutil.Error, psycopg.Error)
_UNLIMITED = (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY)


class Restartable(Protocol):
    """A process besides the workers that can be killed and begun again."""

    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True)
class Scene:
    """All that can be broken in a round."""

    ground: Ground
    crew: Crew
    random: Random
    service: Restartable | None = None

    @property
    def server(self) -> Server:
        """The server, where there is one."""
        assert self.ground.server is not None
        return self.ground.server


class Happened(NamedTuple):
    """A fault, and when it began and was over."""

    what: str
    began: float
    ended: float


def kill_worker(scene: Scene) -> None:
    """A worker is gone at once."""
    scene.crew.kill_one(scene.random)


def cut_connections(scene: Scene) -> None:
    """All connections through the proxy break, whatever is under way on them."""
    scene.server.proxy.cut()


def kill_server(scene: Scene) -> None:
    """The database server is gone at once, and begins again."""
    scene.server.postgres.kill()
    scene.server.postgres.start()


def fill_disk(scene: Scene) -> None:
    """No worker can write to a file for a while."""
    _limited_files(scene.crew.pids)


def fill_disk_of_server(scene: Scene) -> None:
    """The database server cannot write to files for a while, which it does not survive."""
    with suppress(psutil.Error, psycopg.Error):
        _limited_files([process.pid for process in _postmaster(scene.server).children()])
    await_server(scene.server)


def kill_service(scene: Scene) -> None:
    """The service is gone at once, and begins again."""
    assert scene.service is not None
    scene.service.kill()
    scene.service.start()


@dataclass(frozen=True)
class Fault:
    """Something that can go wrong: how often in comparison with others, and where it can."""

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
    """Lets one fault after another happen until told to end."""

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
        """Each fault in turn first, then as the dice fall."""
        random = self._scene.random
        due = random.sample(list(self._possible), len(self._possible))
        weights = [one.weight for one in self._possible.values()]
        while not self._is_over.wait(self._every * random.uniform(0.5, 1.5)):
            (name,) = [due.pop()] if due else random.choices(list(self._possible), weights)
            began = time.monotonic()
            try:
                self._possible[name].cause(self._scene)
            except _MISHAPS as reason:
                self.problems.append(f"the fault {name!r} could not be mended: {reason!r}")
            self.happened.append(Happened(name, began, time.monotonic()))

    def end(self) -> None:
        """No more faults; all that was broken is whole again."""
        self._is_over.set()
        self.join()


def _limited_files(pids: Sequence[int]) -> None:
    """Let processes write nothing beyond the beginning of files for a moment."""
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
    """Return once the server takes connections; it begins again by itself, or is helped."""
    deadline = time.monotonic() + _RECOVERY_SECONDS
    while time.monotonic() < deadline:
        if not server.postgres.running:
            server.postgres.kill()
            server.postgres.start()
        with suppress(psycopg.OperationalError):
            psycopg.connect(server.postgres.dsn(), connect_timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError("the PostgreSQL server does not come back")
