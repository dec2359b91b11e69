"""Priorities of the threads of Spark, on Linux.

A small query takes more time for planning than for its tasks. Tasks of large queries must not take
the cores from planning: their threads get a lower priority.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_TASK = "Executor task l"  # beginning of the names of the threads of tasks
_NICENESS = 10


class TaskPriorities:
    """Threads of a process that were examined, and their lower priorities."""

    def __init__(self, threads: str = "/proc/{}/task") -> None:
        self._folder = threads
        self._seen: set[tuple[int, int]] = set()

    def lower(self, process: int) -> None:
        """Lower the priority of threads that have started since the last call."""
        found: set[tuple[int, int]] = set()
        with suppress(OSError):  # another system, or the process has ended
            for entry in os.listdir(self._folder.format(process)):
                thread = int(entry)
                found.add((process, thread))
                if (process, thread) not in self._seen:
                    self._examine(process, thread)
        self._seen = found

    def _examine(self, process: int, thread: int) -> None:
        with suppress(OSError):  # the thread has ended
            name = Path(self._folder.format(process), str(thread), "comm").read_text()
            if name.startswith(_TASK):
                os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
