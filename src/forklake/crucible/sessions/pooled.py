"""A session of SQL on a Spark that many share: its jobs can be told apart, and stopped."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from forklake.crucible.sessions.engines import Engines, has_tasks, name_jobs, stop_jobs
from forklake.spark.attachments import Attachments
from forklake.sql.guarding import Guard
from forklake.sql.session import Session

if TYPE_CHECKING:
    from forklake.spark.engine.engine import Engine


class PooledSession(Session):
    """A session whose jobs belong to a group, such as those of the statement that runs."""

    def __init__(
        self,
        engines: Engines,
        *,
        attachments: Attachments | None = None,
        guard: Guard | None = None,
    ) -> None:
        super().__init__(attachments=attachments, guard=guard)
        self._engines = engines
        self._group = ""

    @property
    def engine(self) -> Engine:
        """Spark, as this session uses it, unless what runs is to stop."""
        self.guard.proceed()
        return super().engine

    def _start_engine(self) -> Engine:
        engine = self._engines.new()
        name_jobs(engine, self._group)
        self.guard.proceed()  # whoever came meanwhile found no jobs to stop
        return engine

    def begin_group(self, group: str) -> None:
        """Jobs from now on are of a group."""
        self._group = group
        if self._engine is not None and not self._engine.has_died:
            name_jobs(self._engine, group)

    def stop_group(self, group: str) -> None:
        """Stop the jobs of a group; other threads may call it."""
        if self._engine is not None:
            with suppress(Exception):  # a Spark that has died meanwhile
                stop_jobs(self._engine, group)

    def occupied_by(self, group: str) -> Engine | None:
        """Spark, if tasks of a group still run on it; other threads may call it."""
        engine = self.started_engine
        if engine is not None:
            with suppress(Exception):  # a Spark that has died meanwhile
                return engine if has_tasks(engine, group) else None
        return None

    @property
    def started_engine(self) -> Engine | None:
        """Spark, if it was started and lives; other threads may call it."""
        engine = self._engine
        return engine if engine is not None and not engine.has_died else None
