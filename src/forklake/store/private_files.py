"""Creation of files that only their owner can read, whatever the umask of the process is."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_PRIVATE = 0o600


def create_private_file(path: str) -> None:
    """Create an empty file that only its owner can access. An existing one keeps its mode.

    If the file cannot be created, the error is left to the database that opens it next.
    """
    with suppress(OSError):
        os.close(_create(path, _PRIVATE))


def open_beside(path: str, database: str) -> int:
    """Open a file beside a database, or create it with the read and write bits of the database."""
    with suppress(FileExistsError):
        return _create(path, _mode_of(database))
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def create_beside(path: str, database: str) -> None:
    """Create an empty file with the read and write bits of a database, unless it exists."""
    with suppress(OSError):
        os.close(_create(path, _mode_of(database)))


def _mode_of(database: str) -> int:
    try:
        return stat.S_IMODE(Path(database).stat().st_mode) & 0o666
    except FileNotFoundError:
        return _PRIVATE


def _create(path: str, mode: int) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    if mode != _PRIVATE:
        os.fchmod(handle, mode)  # not subject to the umask
    return handle
