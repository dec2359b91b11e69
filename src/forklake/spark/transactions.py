"""Transactions of a session: many statements, one snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from weakref import WeakKeyDictionary

from forklake.catalog.catalog import Catalog
from forklake.errors import InvalidInput
from forklake.model.ids import SnapshotId
from forklake.model.plan import Committed
from forklake.model.snapshots import CommitInfo
from forklake.spark.attachments import Attachment
from forklake.spark.work import Change, Work


class Transactions:
    """The part of a session that begins and ends transactions, and through which all change."""

    def __init__(self) -> None:
        self._work: Work | None = None
        self._info = CommitInfo()
        self._last_commits: WeakKeyDictionary[Catalog, SnapshotId] = WeakKeyDictionary()

    def _require_open(self) -> None:
        """InvalidInput if the session is closed."""
        raise NotImplementedError

    @contextmanager
    def transaction(self, author: str | None = None, message: str | None = None) -> Iterator[None]:
        """Changes that become visible together, as one snapshot, or not at all."""
        self.begin(author, message)
        with self._ending():
            yield

    @contextmanager
    def transaction_once(self, key: str) -> Iterator[None]:
        """The same under a key: what was committed with it before is not committed again."""
        self.begin()
        assert self._work is not None
        self._work.info = replace(self._work.info, idempotency_key=key)
        with self._ending():
            yield

    @contextmanager
    def _ending(self) -> Iterator[None]:
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
                "A transaction is open already: transactions cannot be nested.",
                remedy="Commit or roll back first.",
            )
        if author is None and message is None:
            self._work = Work(self._taken_info())
        else:
            self._work = Work(CommitInfo(author, message))

    def commit(self) -> Committed | None:
        """Make the changes of the transaction visible; None if there are none."""
        work = self._ended()
        committed = work.commit()
        if work.changed is not None:
            self._note(work.changed)
        return committed

    def rollback(self) -> None:
        """Forget the changes of the transaction, and remove their files."""
        self._ended().rollback()

    def _ended(self) -> Work:
        self._require_open()
        work, self._work = self._work, None
        if work is None:
            raise InvalidInput("No transaction is open.", remedy="Begin one first.")
        return work

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._work is not None

    def set_commit_message(
        self, author: str | None, message: str | None, extra_info: str | None = None
    ) -> None:
        """Say who makes the open transaction, or else the next change, and why."""
        self._require_open()
        info = CommitInfo(author, message, extra_info)
        if self._work is not None:
            self._work.describe(info)
        else:
            self._info = info

    def _taken_info(self) -> CommitInfo:
        info, self._info = self._info, CommitInfo()
        return info

    @contextmanager
    def changing(
        self, attachment: Attachment, *, idempotency_key: str | None = None
    ) -> Iterator[Change]:
        """A change of a catalog: part of the open transaction, or a commit of its own at the end.

        With a key of the caller's, a change that was made before is not made again.
        """
        self._require_open()
        attachment.require_writable()
        if self._work is not None:
            with self._work.changing(attachment) as change:
                yield change
            return
        info = replace(self._taken_info(), idempotency_key=idempotency_key)
        with self.committing(Change(attachment, info)) as change:
            yield change

    @contextmanager
    def committing(self, change: Change) -> Iterator[Change]:
        """A change that is made visible at the end; whoever follows commits learns of it."""
        with change.committing():
            yield change
        self._note(change)

    def last_committed_snapshot(self, attachment: Attachment) -> SnapshotId | None:
        """The newest snapshot of a catalog that this session committed."""
        return self._last_commits.get(attachment.catalog)

    def _note(self, change: Change) -> None:
        committed = change.transaction.committed
        if committed is not None:
            self._last_commits[change.attachment.catalog] = committed.snapshot_id
