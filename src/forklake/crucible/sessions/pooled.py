"""SQL session on a shared Spark, with a job group per statement so that jobs can be cancelled."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from forklake.crucible.sessions.engines import EngineFactory, has_tasks, name_jobs, stop_jobs
from forklake.session.attachments import Attachments
from forklake.sql.guard import Guard
from forklake.sql.session import Session

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


class PooledSession(Session):
    """Session that runs its jobs in job groups, one for each statement."""

    def __init__(
        self,
        engines: EngineFactory,
        *,
        attachments: Attachments | None = None,
        guard: Guard | None = None,
    ) -> None:
        super().__init__(attachments=attachments, guard=guard)
        self._engines = engines
        self._group = ""

    @property
    def engine(self) -> Engine:
        """Engine of this session. Raises if the running statement is to be cancelled."""
        self.guard.proceed()
        return super().engine

    def _start_engine(self) -> Engine:
        engine = self._engines.create()
        name_jobs(engine, self._group)
        self.guard.proceed()  # a cancellation during startup found no jobs to stop
        return engine

    def begin_group(self, group: str) -> None:
        """Assign jobs from now on to a group."""
        self._group = group
        if self._engine is not None and not self._engine.has_died:
            name_jobs(self._engine, group)

    def stop_group(self, group: str) -> None:
        """Cancel the jobs of a group. Can be called by other threads."""
        if self._engine is not None:
            with suppress(Exception):  # Spark may have died meanwhile
                stop_jobs(self._engine, group)

    def find_occupied_engine(self, group: str) -> Engine | None:
        """Return the engine if tasks of a group still run on it. Can be called by other threads."""
        engine = self.started_engine
        if engine is not None:
            with suppress(Exception):  # Spark may have died meanwhile
                return engine if has_tasks(engine, group) else None
        return None

    @property
    def started_engine(self) -> Engine | None:
        """Engine, if it was started and is alive. Can be read by other threads."""
        engine = self._engine
        return engine if engine is not None and not engine.has_died else None
