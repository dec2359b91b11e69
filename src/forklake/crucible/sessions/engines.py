"""Spark engine shared by all sessions: started on first use, with jobs that can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forklake.crucible.sessions.priorities import TaskPriorities

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


POOLS = 256
_STACK_LINES = 20


def start_engine() -> Engine:
    """Return an engine on the Spark of this process, which is started if necessary."""
    from forklake.engines.spark.engine import Engine

    return Engine.start(is_shared=True)


class EngineFactory:
    """Factory of isolated engines, one per session, that share one Spark."""

    def __init__(self, start: Callable[[], Engine] = start_engine) -> None:
        self._start = start
        self._guard = threading.Lock()
        self._first: Engine | None = None
        self._count = 0
        self._priorities = TaskPriorities()

    def create(self) -> Engine:
        """Return an engine with separate settings and temporary views, for the current thread."""
        # Under a lock: PySpark modules import each other in cycles, and Spark must start only once.
        with self._guard:
            if self._first is None or self._first.has_died:
                self._first = self._start()
                _watch_tasks(self._first)
            self._count += 1
            engine = self._first.new_session()
        _join_pool(engine, self._count)
        _interrupt_joins(engine)
        return engine

    def lower_task_priority(self) -> None:
        """Let tasks yield the cores to the planning of other statements."""
        engine = self._first
        if engine is not None and engine.process_id is not None:
            self._priorities.lower(engine.process_id)

    def close(self) -> None:
        """Release Spark, which stops when nothing else uses it."""
        with self._guard:
            if self._first is not None:
                self._first.close()
            self._first = None


def _join_pool(engine: Engine, number: int) -> None:
    """Assign the jobs of this thread to a scheduler pool. All pools get equal shares of Spark."""
    # Spark never removes a pool, so their number is limited.
    context = engine.spark.sparkContext
    context.setLocalProperty("spark.scheduler.pool", f"sessions-{number % POOLS}")


def _interrupt_joins(engine: Engine) -> None:
    session: Any = engine.spark._jsparkSession
    if engine.is_native:
        _java_classes(engine).InterruptibleJoins.install(session)


def name_jobs(engine: Engine, group: str) -> None:
    """Assign all jobs that this thread starts from now on to a job group."""
    engine.spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)


def stop_jobs(engine: Engine, group: str) -> None:
    """Cancel the jobs of a group, including future ones, and interrupt their planning."""
    if engine.is_native:
        _java_classes(engine).Interruption.stop(group)
    _spark_context(engine).cancelJobGroupAndFutureJobs(group)


def has_tasks(engine: Engine, group: str) -> bool:
    """Return whether tasks of a group are running, even if their jobs were cancelled."""
    return engine.is_native and bool(_java_classes(engine).Tasks.isRunning(group))


def task_stacks(engine: Engine, group: str) -> str:
    """Return the stack traces of the running tasks of a group, for the log."""
    return str(_java_classes(engine).Tasks.stacks(group, _STACK_LINES)) if engine.is_native else ""


def _watch_tasks(engine: Engine) -> None:
    if engine.is_native:
        _java_classes(engine).Tasks.watch(_spark_context(engine))


def _java_classes(engine: Engine) -> Any:
    """Return our classes in the JVM of a native engine."""
    jvm: Any = engine.spark.sparkContext._jvm
    return jvm.forklake


def _spark_context(engine: Engine) -> Any:
    """Return the Spark context of an engine, in its JVM."""
    context: Any = engine.spark.sparkContext
    return context._jsc.sc()
