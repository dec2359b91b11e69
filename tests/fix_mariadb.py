"""A real MariaDB server for tests, if the machine has one; otherwise its tests are skipped.

`mysql_address` is a server that lives as long as the test run. The environment variable
FORKLAKE_TEST_MYSQL (an address without a database) replaces it by another server, such as MySQL.
"""

import atexit
import getpass
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pymysql
import pytest

TIMEOUT_SECONDS = 60
FOLDERS = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


def find_program(*names: str) -> str | None:
    """Return the first of some programs that the machine has, or None."""
    return next((found for name in names if (found := shutil.which(name, path=FOLDERS))), None)


SERVER = find_program("mariadbd")
INSTALLER = find_program("mariadb-install-db")
# A killed test run takes its server with it.
_TOGETHER = [found, "--pdeathsig", "KILL"] if (found := find_program("setpriv")) else []


class MariadbServer:
    """A server in a temporary directory, reachable through a Unix socket only."""

    def __init__(self, *settings: str) -> None:
        self.settings = settings
        self.directory = Path(tempfile.mkdtemp(prefix="forklake-mariadb-"))
        self.socket = self.directory / "socket"
        self._log = self.directory / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._options = [f"--datadir={self.directory / 'data'}", f"--user={getpass.getuser()}"]
        atexit.register(self.close)
        self._run([str(INSTALLER), "--no-defaults", *self._options, "--skip-test-db"]).wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def address(self) -> str:
        return f"unix_socket={self.socket} user={getpass.getuser()}"

    def start(self) -> None:
        """Start the server, with recovery after a crash, and wait until it accepts connections."""
        options = [f"--socket={self.socket}", "--skip-networking", "--max-connections=500"]
        command = [*_TOGETHER, str(SERVER), "--no-defaults", *self._options, *options]
        self._process = self._run([*command, *self.settings])
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if self.socket.exists():  # without this check the driver would leak a socket
                pymysql.connect(unix_socket=str(self.socket), user=getpass.getuser()).close()
                return
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.02)
                break
        self.kill()
        raise RuntimeError(f"the MariaDB server does not start:\n{self._log.read_text()}")

    def stop(self) -> None:
        """Shut down cleanly."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill the process, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(TIMEOUT_SECONDS)
            self.socket.unlink(missing_ok=True)

    def close(self) -> None:
        """End the server and remove its data."""
        if os.getpid() != self._owner:
            return  # in a forked child: the server belongs to the parent
        atexit.unregister(self.close)
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            # Ctrl-C in the terminal must reach only the test run, which then ends the server.
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )


def require_mariadb() -> None:
    """Skip a test if there is no server."""
    if SERVER is None or INSTALLER is None:
        pytest.skip("this machine has no MariaDB server")


@pytest.fixture(scope="session")
def mysql_address() -> Iterator[str]:
    """Yield the shared server. Every pytest-xdist worker has its own."""
    if address := os.environ.get("FORKLAKE_TEST_MYSQL"):
        yield address
        return
    require_mariadb()
    # Most of its work is creating tables, so that flushing to disk would dominate.
    with MariadbServer("--innodb-flush-method=nosync", "--skip-sync-frm") as server:
        yield server.address()
