"""Progress bars for long Spark jobs, on a terminal.

A thread polls Spark for the number of finished tasks. It never affects the job: without a terminal
it is not started, jobs of less than a second show nothing, and errors of the display are ignored.
All bars of a process share one display.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

SWITCH = "FORKLAKE_PROGRESS"
_PATIENCE = 1.0  # seconds before a bar appears
_INTERVAL = 0.2  # seconds between polls


@contextmanager
def progress(what: str, display: Display | None = None) -> Iterator[None]:
    """Show the progress of the Spark jobs that this thread runs inside the block.

    Blocks inside another block have no bar.
    """
    context = _running_spark()
    display = display or _terminal
    if context is None or getattr(_shown, "is_busy", False) or not display.is_watched:
        yield
        return
    tag = f"forklake-{uuid.uuid4().hex}"
    watcher = _Watcher(context, tag, what, display)
    _shown.is_busy = True
    context.addJobTag(tag)
    watcher.start()
    try:
        yield
        watcher.has_succeeded = True
    finally:
        _shown.is_busy = False
        watcher.finish()
        with suppress(Exception):  # Spark may have ended meanwhile
            context.removeJobTag(tag)


_shown = threading.local()


def _running_spark() -> Any:
    """Return the context of the running Spark, if any, without importing PySpark for it."""
    pyspark: Any = sys.modules.get("pyspark")
    context = getattr(pyspark, "SparkContext", None)
    return None if context is None else context._active_spark_context


class _Watcher(threading.Thread):
    """Thread that moves one bar until the work is finished."""

    def __init__(self, context: Any, tag: str, what: str, display: Display) -> None:
        super().__init__(name="forklake-progress", daemon=True)
        self._context = context
        self._tag = tag
        self._what = what
        self._display = display
        self._is_finished = threading.Event()
        self.has_succeeded = False

    def run(self) -> None:
        with suppress(Exception):  # errors of the display must not affect the job
            if not self._is_finished.wait(_PATIENCE):
                self._show()

    def _show(self) -> None:
        with self._display.bar(self._what) as move:
            while not self._is_finished.wait(_INTERVAL):
                move(*self._tasks())
            done, total = self._tasks()
            move(total if self.has_succeeded else done, total)

    def finish(self) -> None:
        """Show the final state and stop the thread."""
        self._is_finished.set()
        self.join()

    def _tasks(self) -> tuple[int, int]:
        """Return how many tasks are done, and how many there are so far."""
        jobs = self._context._jsc.sc().statusTracker().getJobIdsForTag(self._tag)
        tracker = self._context.statusTracker()
        done = total = 0
        for job in (tracker.getJobInfo(number) for number in jobs):
            for stage in (tracker.getStageInfo(number) for number in job.stageIds if job):
                if stage is None:
                    continue
                done += stage.numCompletedTasks
                # Stages that a finished job skipped, because their output existed, do not count.
                is_over = job.status != "RUNNING"
                total += stage.numCompletedTasks if is_over else stage.numTasks
        return done, total


class Display:
    """Bars of a console, by default of the terminal: displayed while at least one is active."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console
        self._guard = threading.Lock()
        self._bars = 0
        self._progress: Progress | None = None

    @property
    def is_watched(self) -> bool:
        """Whether there is a terminal and bars are not switched off."""
        if os.environ.get(SWITCH) == "0":
            return False
        if self._console is not None:
            return self._console.is_terminal
        return sys.stdout.isatty() and sys.stderr.isatty()

    @contextmanager
    def bar(self, what: str) -> Iterator[Any]:
        """Yield a function that moves a new bar to (done, total)."""
        with self._guard:
            if self._progress is None:
                self._progress = self._start_progress()
            shown = self._progress
            self._bars += 1
            number = shown.add_task(what, total=None)
        try:
            yield lambda done, total: shown.update(number, completed=done, total=total or None)
        finally:
            with self._guard:
                self._bars -= 1
                if not self._bars:
                    self._progress = None
                    shown.stop()

    def _start_progress(self) -> Progress:
        shown = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("tasks"),
            TimeElapsedColumn(),
            console=self._console or Console(stderr=True),
        )
        shown.start()
        return shown


_terminal = Display()
