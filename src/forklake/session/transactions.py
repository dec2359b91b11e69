"""Transactions of a session: many statements, one snapshot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TypeVar
from weakref import WeakKeyDictionary

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

from forklake.catalog.catalog import Catalog
from forklake.errors import Conflict, InvalidInput
from forklake.model.ids import SnapshotId
from forklake.model.plan import Committed
from forklake.model.snapshots import CommitInfo
from forklake.session.attachments import Attachment
from forklake.session.unit_of_work import OpenTransaction, UnitOfWork
from forklake.store.reservations import Turn

T = TypeVar("T")
_ATTEMPTS = 50  # of a statement in autocommit, besides the first
_UNRESERVED_ATTEMPTS = 1  # attempts before a statement makes other commits to the catalog wait
_LONGEST_TURN = 30.0  # seconds that a statement may take while others wait


class Transactions:
    """Part of a session that begins and ends transactions, through which all changes are made."""

    def __init__(self) -> None:
        self._work: OpenTransaction | None = None
        self._info = CommitInfo()
        self._last_changed: Catalog | None = None
        self.isolation_level: str | None = None  # of future transactions; None: that of the catalog
        self._last_commits: WeakKeyDictionary[Catalog, SnapshotId] = WeakKeyDictionary()

    def _require_open(self) -> None:
        """Raise InvalidInput if the session is closed."""
        raise NotImplementedError

    @contextmanager
    def transaction(self, author: str | None = None, message: str | None = None) -> Iterator[None]:
        """Commit the changes of the block as one snapshot, or roll them back if it raises."""
        self.begin(author, message)
        with self._commit_or_roll_back():
            yield

    @contextmanager
    def transaction_once(self, key: str) -> Iterator[None]:
        """Commit the block as a transaction, unless one with the same key was committed before."""
        self.begin()
        assert self._work is not None
        self._work.info = replace(self._work.info, idempotency_key=key)
        with self._commit_or_roll_back():
            yield

    @contextmanager
    def _commit_or_roll_back(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self._work is not None:
                self.rollback()
            raise
        if self._work is not None:
            self.commit()

    def begin(self, author: str | None = None, message: str | None = None) -> None:
        """Begin a transaction."""
        self._require_open()
        if self._work is not None:
            raise InvalidInput(
                "A transaction is already open: transactions cannot be nested.",
                remedy="Commit or roll back the open transaction first.",
            )
        if author is None and message is None:
            self._work = OpenTransaction(self._taken_info(), self.isolation_level)
        else:
            self._work = OpenTransaction(CommitInfo(author, message), self.isolation_level)

    def commit(self) -> Committed | None:
        """Commit the transaction; return None if it has no changes."""
        work = self._take_work()
        committed = work.commit()
        if work.changed is not None:
            self._note(work.changed)
        return committed

    def rollback(self) -> None:
        """Roll back the transaction, and remove its files."""
        self._take_work().rollback()

    def _take_work(self) -> OpenTransaction:
        self._require_open()
        work, self._work = self._work, None
        if work is None:
            raise InvalidInput("No transaction is open.", remedy="Begin a transaction first.")
        return work

    def record_definitions(self) -> None:
        """Record that the open transaction depends on which names exist in its catalogs."""
        if self._work is not None:
            self._work.record_definitions()

    def record_everything(self, attachment: Attachment) -> None:
        """Record that the open transaction depends on the history or the files of a catalog.

        Call it before reading them: they are read in their current state.
        """
        if self._work is not None and attachment.pinned is None:
            self._work.on(attachment).transaction.record_everything()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._work is not None

    def set_commit_message(
        self, author: str | None, message: str | None, extra_info: str | None = None
    ) -> None:
        """Set author and message of the open transaction, or else of the next change."""
        self._require_open()
        info = CommitInfo(author, message, extra_info)
        if self._work is not None:
            self._work.describe(info)
        else:
            self._info = info

    def _taken_info(self) -> CommitInfo:
        info, self._info = self._info, CommitInfo()
        return info

    def run_statement(self, statement: Callable[[], T]) -> T:
        """Run a statement. In autocommit, run it again on the new snapshot after a conflict.

        Inside a transaction a conflict is raised: the caller has seen the older snapshot.
        """
        if self._work is not None:
            return statement()
        info = self._info

        def attempt() -> T:
            self._info = info  # a failed attempt has consumed the commit message
            return statement()

        began = time.monotonic()
        try:
            return attempt()
        except Conflict:
            if self._last_changed is None:
                raise
        catalog = self._last_changed
        if time.monotonic() - began > _LONGEST_TURN:  # too long to make others wait for it
            return _run_until_committed(attempt)
        with catalog.database.turn(catalog.catalog_id) as turn:
            return _run_until_committed(attempt, turn)

    @contextmanager
    def changing(
        self, attachment: Attachment, *, idempotency_key: str | None = None
    ) -> Iterator[UnitOfWork]:
        """Yield a change of a catalog: part of the open transaction, or committed at the end.

        With an idempotency key, a change that has been committed before is not applied
        again.
        """
        self._require_open()
        attachment.require_writable()
        self._last_changed = attachment.catalog
        if self._work is not None:
            with self._work.changing(attachment) as change:
                yield change
            return
        info = replace(self._taken_info(), idempotency_key=idempotency_key)
        change = UnitOfWork(attachment, info, isolation_level=self.isolation_level)
        with self.committing(change):
            yield change

    @contextmanager
    def committing(self, change: UnitOfWork) -> Iterator[UnitOfWork]:
        """Yield a change, commit it at the end, and record its snapshot as the last one."""
        with change.committing():
            yield change
        self._note(change)

    def last_committed_snapshot(self, attachment: Attachment) -> SnapshotId | None:
        """Return the newest snapshot of a catalog that this session committed."""
        return self._last_commits.get(attachment.catalog)

    def _note(self, change: UnitOfWork) -> None:
        committed = change.transaction.committed
        if committed is not None:
            self._last_commits[change.attachment.catalog] = committed.snapshot_id


def _run_until_committed(statement: Callable[[], T], turn: Turn | None = None) -> T:
    """Run a statement again after each conflict.

    With a turn, other commits to the catalog wait from the second retry on. Statements that
    retry take turns: if all retried at once, the slowest would never succeed.
    """
    duration = 0.0
    for attempt in Retrying(
        retry=retry_if_exception_type(Conflict),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random(0, 0.05),
        reraise=True,
    ):
        is_outrun = attempt.retry_state.attempt_number > _UNRESERVED_ATTEMPTS
        reserves = turn is not None and is_outrun and duration <= _LONGEST_TURN
        with attempt, turn.reserve() if turn is not None and reserves else nullcontext():
            began = time.monotonic()
            try:
                return statement()
            finally:
                duration = time.monotonic() - began
    raise AssertionError("the last attempt returns or raises")
