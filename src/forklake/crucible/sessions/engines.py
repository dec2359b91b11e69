"""Spark for all sessions: one, started when it is first needed, and how its jobs are stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forklake.spark.engine.engine import Engine


POOLS = 256


def own_engine() -> Engine:
    """An engine on the Spark of this process, started unless it runs."""
    from forklake.spark.engine.engine import Engine

    return Engine.start(is_shared=True)


class Engines:
    """Gives each session an isolated one, all on the same Spark."""

    def __init__(self, start: Callable[[], Engine] = own_engine) -> None:
        self._start = start
        self._guard = threading.Lock()
        self._first: Engine | None = None
        self._count = 0

    def new(self) -> Engine:
        """An engine with settings and temporary views of its own, for the thread that asks."""
        # One at a time: modules of Spark import each other in circles, and it starts once.
        with self._guard:
            if self._first is None or self._first.has_died:
                self._first = self._start()
                _watch_tasks(self._first)
            self._count += 1
            engine = self._first.new_session()
        _join_pool(engine, self._count)
        return engine

    def close(self) -> None:
        """Let go of Spark, which stops when nobody else has it."""
        with self._guard:
            if self._first is not None:
                self._first.close()
            self._first = None


def _join_pool(engine: Engine, number: int) -> None:
    """Jobs of this thread have the same share of Spark as those of other pools."""
    # Spark keeps every pool, so there are only some of them.
    context = engine.spark.sparkContext
    context.setLocalProperty("spark.scheduler.pool", f"sessions-{number % POOLS}")


def name_jobs(engine: Engine, group: str) -> None:
    """All jobs that this thread starts from now on are of a group."""
    engine.spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)


def stop_jobs(engine: Engine, group: str) -> None:
    """Stop the jobs of a group, also those that are yet to come, and what plans them."""
    context: Any = engine.spark.sparkContext
    if engine.is_native:
        context._jvm.forklake.Interruption.stop(group)
    context._jsc.sc().cancelJobGroupAndFutureJobs(group)


def has_tasks(engine: Engine, group: str) -> bool:
    """Whether tasks of a group run, even if its jobs were cancelled."""
    context: Any = engine.spark.sparkContext
    return engine.is_native and bool(context._jvm.forklake.Tasks.isRunning(group))


def _watch_tasks(engine: Engine) -> None:
    context: Any = engine.spark.sparkContext
    if engine.is_native:
        context._jvm.forklake.Tasks.watch(context._jsc.sc())
