"""Creation of files that only their owner can read, whatever the process's umask is."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_PRIVATE = 0o600


def create_private_file(path: str) -> None:
    """Create an empty file for its owner alone. One that exists keeps its mode.

    A file that cannot be created is left to the database that is to open it, which reports why.
    """
    with suppress(OSError):
        os.close(_create(path, _PRIVATE))


def open_beside(path: str, database: str) -> int:
    """Open a file beside a database, or create it for those who may read and write the database."""
    with suppress(FileExistsError):
        return _create(path, _mode_of(database))
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def create_beside(path: str, database: str) -> None:
    """Create an empty file for those who may read and write a database, unless it exists."""
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
        os.fchmod(handle, mode)  # of which the umask takes nothing away
    return handle
