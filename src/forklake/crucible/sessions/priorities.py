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
    """Threads of a process that have the lower priority."""

    def __init__(self, threads: str = "/proc/{}/task") -> None:
        self._folder = threads
        self._lowered: set[tuple[int, int]] = set()

    def lower(self, process: int) -> None:
        """Lower the priority of threads of tasks that have started since the last call."""
        threads: list[tuple[int, int]] = []
        with suppress(OSError):  # another system, or the process has ended
            threads = [(process, int(one)) for one in os.listdir(self._folder.format(process))]
        # All others are examined each time: a thread gets its name some time after its start.
        self._lowered = {one for one in threads if one in self._lowered or self._lower(*one)}

    def _lower(self, process: int, thread: int) -> bool:
        with suppress(OSError):  # the thread has ended
            name = Path(self._folder.format(process), str(thread), "comm").read_text()
            if name.startswith(_TASK):
                os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
                return True
        return False
