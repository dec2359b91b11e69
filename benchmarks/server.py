"""PostgreSQL server for benchmarks, with a new database for each.

Set FORKLAKE_BENCH_POSTGRES to a libpq connection string to use another server than the one that is
started by default.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.fix_postgres import ExternalPostgres, Postgres, PostgresServer

SETTINGS: dict[str, str | int] = {
    "fsync": "on",
    "shared_buffers": "2GB",
    "max_wal_size": "8GB",
}


class Server:
    """Running PostgreSQL server."""

    def __init__(self, postgres: Postgres, kind: str) -> None:
        self._postgres = postgres
        self._kind = kind

    def dsn(self, database: str = "postgres") -> str:
        """Return the connection string of a database in the keyword form, which DuckDB accepts."""
        return make_conninfo("", **conninfo_to_dict(self._postgres.dsn(database)))

    @contextmanager
    def database(self) -> Iterator[str]:
        """Create an empty database, yield its connection string, and drop it at the end."""
        name = f"forklake_bench_{uuid.uuid4().hex}"
        create, drop = "CREATE DATABASE {} TEMPLATE template0", "DROP DATABASE {} WITH (FORCE)"
        self._administer(sql.SQL(create).format(sql.Identifier(name)))
        try:
            yield self.dsn(name)
        finally:
            self._administer(sql.SQL(drop).format(sql.Identifier(name)))

    def _administer(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute(statement)

    def checkpoint(self) -> None:
        """Write dirty pages to disk, so that the next measurement does not include it."""
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    def description(self) -> str:
        """Describe the server and its settings."""
        with psycopg.connect(self.dsn()) as connection:
            version, *values = (
                connection.execute(f"SHOW {name}".encode()).fetchall()[0][0]
                for name in ("server_version", *SETTINGS)
            )
        settings = (f"`{name}` {value}" for name, value in zip(SETTINGS, values, strict=True))
        return f"PostgreSQL {version} {self._kind} with {', '.join(settings)}"

    def cpu_seconds(self) -> float | None:
        """Return the CPU time of all its processes so far, or None for a remote server."""
        with psycopg.connect(self.dsn()) as connection:
            pid = connection.execute("SELECT pg_backend_pid()").fetchall()[0][0]
            with suppress(psutil.NoSuchProcess):
                postmaster = psutil.Process(pid).parent()
                if postmaster is not None and postmaster.name().startswith("postgres"):
                    return _cpu_of(postmaster)
        return None


def _cpu_of(postmaster: psutil.Process) -> float:
    # The postmaster accounts for ended processes in the times of its children.
    own = postmaster.cpu_times()
    seconds: float = own.children_user + own.children_system
    for process in [postmaster, *postmaster.children()]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system
    return seconds


@contextmanager
def running_server() -> Iterator[Server]:
    """Yield the server to measure. A server that was started here is stopped at the end."""
    if conninfo := os.environ.get("FORKLAKE_BENCH_POSTGRES"):
        yield Server(ExternalPostgres(conninfo), "on an existing server,")
        return
    with PostgresServer(SETTINGS) as server:
        yield Server(server, "from a Python wheel, on the same machine,")
