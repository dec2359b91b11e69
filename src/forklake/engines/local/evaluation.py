"""Evaluation of constant expressions in child processes, within limits of memory and time.

DuckDB cannot be interrupted inside one call of a function, and allocates strings beyond its memory
limit. A child process is limited by the operating system and can be killed. Children are kept for
the next expression; one that was killed is replaced.
"""

from __future__ import annotations

import atexit
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from forklake.errors import InvalidInput, QuotaExceeded

SECONDS = 5
MOST_BYTES = 64 * 2**20  # of the values of one evaluation
ADDRESS_SPACE = 768 * 2**20  # of a child, of which Python and its libraries take half
MOST_CHILDREN = 8
_KEPT = 2  # idle children
_WORKER = Path(__file__).with_name("evaluation_worker.py")
_SET = {
    "HOME": "/nonexistent",
    # The default pool of Arrow reserves a gigabyte of address space.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
# The environment of the service may hold secrets: only what Python needs to start is passed on.
_PASSED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class EvaluationError(Exception):
    """Error with the message of DuckDB about an expression that it refuses."""


def evaluate(query: str) -> pa.Table:
    """Return the rows of a query without tables, computed in a child process."""
    status, content = _pool.answer(query)
    if status == b"+":
        return pa.ipc.open_stream(content).read_all()
    if status == b">":
        raise InvalidInput(
            f"The values of the expression take {int(content)} bytes; the limit is {MOST_BYTES}.",
            remedy="Write a query with FROM instead: Spark computes it.",
        )
    raise EvaluationError(content.decode(errors="replace"))


def stop(thread: int) -> None:
    """Kill the child that computes for a thread, if any."""
    _pool.stop(thread)


class _Child:
    """Child process that evaluates one query at a time."""

    def __init__(self) -> None:
        limits = (str(ADDRESS_SPACE), str(SECONDS), str(MOST_BYTES))
        environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
        self._process = subprocess.Popen(
            # -P: no module in the folder of the worker hides one of the standard library.
            [sys.executable, "-P", str(_WORKER), *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, **_SET},
            process_group=0,  # Ctrl-C is handled by this process
            bufsize=0,
        )
        self.is_spent = False

    def answer(self, query: str, seconds: float) -> tuple[bytes, bytes]:
        """Return status and content.

        Raises EOFError if the child died, TimeoutError if it is too slow.
        """
        assert self._process.stdin is not None
        deadline = time.monotonic() + seconds
        sent = query.encode()
        try:
            self._write(struct.pack(">I", len(sent)) + sent)
        except OSError as reason:
            raise EOFError from reason
        head = self._read(6, deadline)
        self.is_spent, length = struct.unpack(">?I", head[1:])
        return head[:1], self._read(length, deadline)

    def _write(self, content: bytes) -> None:
        assert self._process.stdin is not None
        left = memoryview(content)
        while left:
            left = left[self._process.stdin.write(left) :]

    def _read(self, count: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        found = bytearray()
        while len(found) < count:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                raise TimeoutError
            part = os.read(self._process.stdout.fileno(), min(count - len(found), 2**20))
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def bury(self) -> None:
        """Kill the process and release its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class _Pool:
    """Child processes, idle or lent to a thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle: list[_Child] = []
        self._lent: dict[int, _Child] = {}

    def answer(self, query: str) -> tuple[bytes, bytes]:
        with self._lend() as child:
            try:
                return child.answer(query, SECONDS + 1)
            except (TimeoutError, EOFError) as reason:
                raise InvalidInput(
                    "The expression was stopped: it took more than"
                    f" {SECONDS} seconds or {ADDRESS_SPACE // 2**20} MiB of memory.",
                    remedy="Write a smaller constant, or a query with FROM: Spark computes it.",
                ) from reason

    def stop(self, thread: int) -> None:
        with self._changed:
            child = self._lent.get(thread)
            if child is not None:
                child.kill()

    @contextmanager
    def _lend(self) -> Iterator[_Child]:
        thread = threading.get_ident()
        child = self._take(thread)
        is_usable = False
        try:
            yield child
            is_usable = True
        finally:
            with self._changed:
                del self._lent[thread]
                is_kept = is_usable and not child.is_spent and len(self._idle) < _KEPT
                if is_kept:
                    self._idle.append(child)
                self._changed.notify()
            if not is_kept:
                child.bury()

    def _take(self, thread: int) -> _Child:
        with self._changed:
            is_free = self._changed.wait_for(lambda: len(self._lent) < MOST_CHILDREN, SECONDS)
            if not is_free:
                raise QuotaExceeded(
                    f"The limit of {MOST_CHILDREN} concurrent constant expressions is reached.",
                    remedy="Try again later.",
                )
            child = self._lent[thread] = self._idle.pop() if self._idle else _Child()
            return child

    def close(self) -> None:
        with self._changed:
            idle, self._idle = self._idle, []
        for child in idle:
            child.bury()

    def forget(self) -> None:
        """Reset the pool after a fork of the process: the children belong to the parent process."""
        self.__init__()  # type: ignore[misc]


_pool = _Pool()
atexit.register(_pool.close)
os.register_at_fork(after_in_child=_pool.forget)
