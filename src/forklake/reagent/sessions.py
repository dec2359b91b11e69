"""Sessions of worktasks in this process: they tag their commits and can be stopped."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from forklake.crucible.sessions.engines import EngineFactory
from forklake.crucible.sessions.pooled import PooledSession
from forklake.engines.local.calculator import interrupt
from forklake.errors import Cancelled
from forklake.model.snapshots import CommitInfo
from forklake.reagent.commit_tags import CommitTag
from forklake.session.attachments import Attachments
from forklake.sql.guard import Guard
from forklake.sql.parameters import Parameters
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
_numbers = itertools.count(1)


class StoppableGuard(Guard):
    """Guard that allows all statements until it is stopped."""

    def __init__(self) -> None:
        self.reason: Cancelled | None = None
        self.thread = 0  # id of the thread that runs a statement

    @contextmanager
    def authorize_statement(self, kind: type[exp.Expr]) -> Iterator[None]:
        self.proceed()
        self.thread = threading.get_ident()
        yield

    def proceed(self) -> None:
        if self.reason is not None:
            raise self.reason


class TaskSession(PooledSession):
    """Session that adds a commit tag to all its commits, and can be stopped."""

    def __init__(
        self,
        engines: EngineFactory,
        *,
        attachments: Attachments | None = None,
        guard: Guard | None = None,
        tag: CommitTag | None = None,
    ) -> None:
        super().__init__(engines, attachments=attachments, guard=guard or StoppableGuard())
        self.session_id = f"local-{os.getpid()}-{next(_numbers)}"
        self.begin_group(self.session_id)
        self._tag = tag

    def cursor(self) -> Self:
        """Return a second session with the same attachments and tag, stopped with this one."""
        return self.duplicate(self._tag, self.guard)

    def duplicate(self, tag: CommitTag | None, guard: Guard) -> Self:
        """Return a session on the same catalogs and the same Spark."""
        self._require_open()
        session = type(self)(self._engines, attachments=self._attachments, guard=guard, tag=tag)
        session._current = self._current
        return session

    def stop(self, reason: Cancelled) -> None:
        """Make running statements end soon. Any thread may call it."""
        assert isinstance(self.guard, StoppableGuard)
        self.guard.reason = reason
        interrupt(self.guard.thread)
        self.stop_group(self.session_id)

    # Commits

    def begin(self, author: str | None = None, message: str | None = None) -> None:
        """Begin a transaction whose commit is tagged."""
        if author is not None or message is not None:
            self._info = CommitInfo(author, message)
        super().begin()

    def set_commit_message(
        self, author: str | None, message: str | None, extra_info: str | None = None
    ) -> None:
        """Set the author and the message of the open transaction, or else of the next change."""
        info = CommitInfo(author, message, extra_info)
        if self.in_transaction:  # otherwise the tag is added when the commit takes the message
            info = self._add_tag(info)
        super().set_commit_message(info.author, info.message, info.extra_info)

    def _taken_info(self) -> CommitInfo:
        return self._add_tag(super()._taken_info())

    def _add_tag(self, info: CommitInfo) -> CommitInfo:
        return info if self._tag is None else self._tag.apply_to(info)


class LocalWorker:
    """Session of a worktask in this process."""

    def __init__(self, session: TaskSession, key: str) -> None:
        self.session: TaskSession = session
        self.session_id = session.session_id
        self._key = key

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> list[Result]:
        """Run statements and return their results."""
        with self.session.noticing_death():
            return list(self.session.run(text, parameters, frames=frames))

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context whose changes are one transaction, committed at most once."""
        return self.session.transaction_once(self._key)

    def stop(self, reason: Cancelled) -> None:
        """Make the running statement end soon."""
        self.session.stop(reason)

    def close(self) -> None:
        """Close the session."""
        self.session.close()
