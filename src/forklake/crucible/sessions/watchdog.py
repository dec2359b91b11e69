"""Watchdog that restarts the JVM when a cancelled statement does not release Spark.

Spark requests tasks to end, but cannot force them. A task inside a long call keeps its slot, and
when all slots are occupied, no session makes progress.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.crucible.sessions.engines import task_stacks

if TYPE_CHECKING:
    from forklake.crucible.sessions.pooled import PooledSession
    from forklake.engines.spark.engine import Engine

_log = logging.getLogger(__name__)
_PLANNING = 6  # factor of the time limit for planning, which does not occupy a task slot


@dataclass(frozen=True, slots=True)
class _CancelledStatement:
    """Cancelled statement: its session, its thread, and the time of the cancellation."""

    session: PooledSession
    thread: int
    since: float
    has_ended: Callable[[], bool]


class Watchdog:
    """Cancelled statements that may still occupy Spark. Thread-safe."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._guard = threading.Lock()
        self._stopped: dict[str, _CancelledStatement] = {}  # by job group

    def watch(
        self, group: str, session: PooledSession, thread: int, has_ended: Callable[[], bool]
    ) -> None:
        """Start to watch a cancelled statement. Further calls for the same group do nothing."""
        with self._guard:
            self._stopped.setdefault(
                group, _CancelledStatement(session, thread, self._clock(), has_ended)
            )

    def check_all(self) -> None:
        """Kill the JVM if a cancelled statement has occupied it for too long."""
        with self._guard:
            stopped = list(self._stopped.items())
        for group, one in stopped:
            occupied = one.session.find_occupied_engine(group)
            seconds = self._clock() - one.since
            if occupied is None and one.has_ended():
                self._forget(group)
            elif occupied is not None and seconds > self._seconds:
                self._kill(occupied, group, seconds)
            elif seconds > self._seconds * _PLANNING and _is_in_java(one.thread):
                engine = one.session.started_engine
                if engine is not None:
                    self._kill(engine, group, seconds)

    def _kill(self, engine: Engine, group: str, seconds: float) -> None:
        stacks = ""
        with suppress(Exception):  # Spark may have died meanwhile
            stacks = task_stacks(engine, group)
        if engine.kill():
            _log.error(
                "Restarting Java: %s was cancelled %.1f s ago and still occupies Spark\n%s",
                group,
                seconds,
                stacks,
            )
            with self._guard:
                self._stopped.clear()  # all of them ran on the killed JVM
        else:
            _log.error("%s was cancelled %.1f s ago and still occupies Spark", group, seconds)
            self._forget(group)

    def _forget(self, group: str) -> None:
        with self._guard:
            self._stopped.pop(group, None)


def _is_in_java(thread: int) -> bool:
    """Return whether a thread is waiting for a response of the JVM."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False
