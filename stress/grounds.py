"""Grounds: where rounds take place. One PostgreSQL server or SQLite file, and room for files.

Every second worker on PostgreSQL goes through a proxy that can be cut.
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
    """A PostgreSQL server to break, and the proxy in front of it."""

    postgres: PostgresServer
    proxy: CuttableProxy


@dataclass(frozen=True)
class Ground:
    """A fresh metastore and an empty folder, and what stands behind it."""

    place: Place
    folder: Path
    server: Server | None = None

    @property
    def lake(self) -> Path:
        """The folder for data files."""
        return self.folder / "lake"

    def places(self) -> Iterator[Place]:
        """Where workers find the metastore: by turns straight and through the proxy."""
        if self.server is None:
            return itertools.repeat(self.place)
        address = f"ducklake:postgres:{self.server.proxy.dsn()}"
        detour = Place(self.place.backend, address, self.place.metadata_schema)
        return itertools.cycle([self.place, detour])


@contextmanager
def running_server() -> Iterator[Server]:
    """A server of our own."""
    with PostgresServer(SETTINGS) as postgres, CuttableProxy(postgres.dsn()) as proxy:
        yield Server(postgres, proxy)


@contextmanager
def fresh_ground(backend: str, server: Server | None) -> Iterator[Ground]:
    """A ground that is gone afterwards, with everything on it."""
    with tempfile.TemporaryDirectory(prefix="forklake-stress-") as name:
        folder = Path(name)
        (folder / "lake").mkdir()
        if backend == "sqlite":
            yield Ground(Place(backend, f"ducklake:sqlite:{folder / 'metastore.db'}"), folder)
            return
        assert server is not None
        with postgres_schema(server.postgres.dsn()) as place:
            yield Ground(place, folder, server)
