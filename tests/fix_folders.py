"""Temporary folders in memory: tests commit thousands of times, and need not wait for a disk.

Files there outlive a process as on a disk, and no test cuts the power of the machine.
Set TMPDIR to have the folders elsewhere.
"""

from __future__ import annotations

import os
import tempfile

import psutil

MEMORY = "/dev/shm"  # a file system in memory, on Linux
ROOM = 6 * 2**30  # several times the needs of all tests


def has_room() -> bool:
    """Return whether such a file system exists, allows programs, and has enough memory."""
    if not os.access(MEMORY, os.W_OK):
        return False
    reported = os.statvfs(MEMORY)
    room = min(reported.f_bavail * reported.f_frsize, psutil.virtual_memory().available)
    return room >= ROOM and not reported.f_flag & os.ST_NOEXEC


def pytest_configure() -> None:
    """Choose before the first folder is created; workers and other processes inherit the choice."""
    if "TMPDIR" not in os.environ and has_room():
        os.environ["TMPDIR"] = tempfile.tempdir = MEMORY
