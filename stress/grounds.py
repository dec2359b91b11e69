"""Environments of rounds: a new metastore (PostgreSQL schema or SQLite file) and a folder.

Every second worker on PostgreSQL connects through a proxy whose connections can be cut.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fix_metastore import Place, postgres_schema
from tests.fix_postgres import PostgresServer
from tests.fix_proxy import CuttableProxy

SETTINGS: dict[str, str | int] = {"max_connections": 300, "shared_buffers": "512MB"}
BACKENDS = ("postgresql", "sqlite")


@dataclass(frozen=True)
class Server:
    """PostgreSQL server, and the proxy in front of it."""

    postgres: PostgresServer
    proxy: CuttableProxy


@dataclass(frozen=True)
class Ground:
    """Fresh metastore with an empty folder, and its server if it has one."""

    place: Place
    folder: Path
    server: Server | None = None

    @property
    def lake(self) -> Path:
        """Folder of data files."""
        return self.folder / "lake"

    def places(self) -> Iterator[Place]:
        """Yield addresses of the metastore for workers, alternately direct and via the proxy."""
        if self.server is None:
            return itertools.repeat(self.place)
        address = f"ducklake:postgres:{self.server.proxy.dsn()}"
        detour = Place(self.place.backend, address, self.place.metadata_schema)
        return itertools.cycle([self.place, detour])


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a PostgreSQL server with a proxy, and stop both at the end."""
    with PostgresServer(SETTINGS) as postgres, CuttableProxy(postgres.dsn()) as proxy:
        yield Server(postgres, proxy)


@contextmanager
def fresh_ground(backend: str, server: Server | None) -> Iterator[Ground]:
    """Create a ground, and delete it with all its files at the end."""
    with tempfile.TemporaryDirectory(prefix="forklake-stress-") as name:
        folder = Path(name)
        (folder / "lake").mkdir()
        if backend == "sqlite":
            yield Ground(Place(backend, f"ducklake:sqlite:{folder / 'metastore.db'}"), folder)
            return
        assert server is not None
        with postgres_schema(server.postgres.dsn()) as place:
            yield Ground(place, folder, server)
