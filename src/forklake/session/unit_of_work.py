"""Units of work: transactions, and the files that were written for them.

A file belongs to the lake only once its commit is known to have succeeded. It is removed when the
commit is known to have failed. When the outcome is unknown, because the answer of the database was
lost, the file stays, and the orphan scan removes it if no snapshot contains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.transaction import Transaction
from forklake.errors import (
    Conflict,
    Forbidden,
    ForklakeError,
    InvalidInput,
    NotFound,
    Unsupported,
)
from forklake.files.systems import remove
from forklake.model.entities import Table
from forklake.model.ids import CatalogId
from forklake.model.plan import Committed
from forklake.model.snapshots import CommitInfo
from forklake.session.attachments import Attachment

# A commit that raises one of these has certainly changed nothing.
_REFUSALS = (Conflict, Forbidden, InvalidInput, Unsupported)


class UnitOfWork:
    """Transaction on an attached catalog, with the files written for it so far."""

    def __init__(
        self,
        attachment: Attachment,
        info: CommitInfo,
        seen: SnapshotReads | None = None,
        *,
        isolation_level: str | None = None,
    ) -> None:
        self.attachment = attachment
        self.transaction: Transaction = attachment.catalog.transaction(
            author=info.author,
            message=info.message,
            extra_info=info.extra_info,
            idempotency_key=info.idempotency_key,
            seen=seen,
        )
        self.transaction.isolation_level = isolation_level
        self._files: list[str] = []

    def wrote(self, paths: Iterable[str]) -> None:
        """Register files that are removed if the change is discarded."""
        self._files.extend(paths)

    @contextmanager
    def committing(self) -> Iterator[UnitOfWork]:
        """Yield the change; commit it at the end, or discard it if the block raises."""
        try:
            yield self
        except BaseException:
            self.discard()
            raise
        self.commit()

    def commit(self) -> Committed | None:
        """Commit the change, or remove its files if it was refused.

        Files that the change wrote but no longer uses are removed too: it deleted all their
        rows again.
        """
        staged = {self.attachment.located(path) for path in self.transaction.staged_paths()}
        try:
            committed = self.transaction.commit()
        except _REFUSALS:
            self._remove_files()
            raise
        with suppress(ForklakeError):  # the commit has succeeded; the orphan scan finds the rest
            remove(path for path in self._files if path not in staged)
        return committed

    def remove_unused(self, table: Table) -> None:
        """Remove the files for a table if the change was already committed under the same key.

        A commit whose answer was lost looks the same, so files in its snapshot are kept. If
        the snapshot has expired since, its files are unknown: all are left to the orphan
        scan.
        """
        committed = self.transaction.committed
        if committed is None or not committed.was_applied_before:
            return
        try:
            made = self.attachment.catalog.at(version=committed.snapshot_id)
        except NotFound:
            return
        used = {file.path for file in made.scan_files(table)}
        remove(path for path in self._files if path not in used)

    def discard(self) -> None:
        """Roll back the change and remove its files."""
        self.transaction.rollback()
        self._remove_files()

    def _remove_files(self) -> None:
        files, self._files = self._files, []
        remove(files)


class OpenTransaction:
    """Open transaction of a session: it reads any catalogs, and changes one of them.

    Each catalog is read at the snapshot that was its head at first use, under any of its
    aliases.
    """

    def __init__(self, info: CommitInfo, isolation_level: str | None = None) -> None:
        self.info = info
        self._isolation_level = isolation_level
        self._changes: dict[tuple[int, CatalogId], UnitOfWork] = {}
        self._changed: UnitOfWork | None = None
        self._has_failed = False

    @property
    def changed(self) -> UnitOfWork | None:
        """Change of the one catalog that the transaction changes; None if it only reads."""
        return self._changed

    def uses(self, attachment: Attachment) -> bool:
        """Return whether the transaction has read or changed the catalog."""
        return _key(attachment) in self._changes

    def on(self, attachment: Attachment) -> UnitOfWork:
        """Return the part of the transaction on one catalog."""
        if self._has_failed:
            raise InvalidInput(
                "An earlier statement of this transaction failed, which ended the transaction.",
                remedy="Roll it back, and run it again from the start.",
            )
        change = self._changes.get(_key(attachment))
        if change is None:
            change = self._changes[_key(attachment)] = UnitOfWork(
                attachment, self.info, isolation_level=self._isolation_level
            )
        return change

    @contextmanager
    def changing(self, attachment: Attachment) -> Iterator[UnitOfWork]:
        """Yield the part of the transaction on one catalog, to change it.

        If the block raises, the transaction can only be rolled back: its changes may be
        incomplete.
        """
        change = self.on(attachment)
        if self._changed is not None and self._changed is not change:
            raise InvalidInput(
                f"The transaction has changed catalog '{self._changed.attachment.alias}' and so"
                f" cannot change '{attachment.alias}': a transaction changes one catalog.",
                remedy="Commit first, then change the other catalog in a new transaction.",
            )
        self._changed = change
        try:
            yield change
        except BaseException:
            self._has_failed = True
            raise

    def record_definitions(self) -> None:
        """Record that the outcome depends on which names exist in the catalogs."""
        for change in self._changes.values():
            change.transaction.record_definitions()

    def describe(self, info: CommitInfo) -> None:
        """Set author and message of the commit; the idempotency key stays."""
        self.info = replace(info, idempotency_key=self.info.idempotency_key)
        for change in self._changes.values():
            change.transaction.set_commit_message(info.author, info.message, info.extra_info)

    def commit(self) -> Committed | None:
        """Commit all changes as one snapshot; return None if there are none."""
        if self._has_failed:
            self.rollback()
            raise InvalidInput(
                "The transaction was rolled back, because one of its statements had failed.",
                remedy="Run it again from the start.",
            )
        return self._changed.commit() if self._changed is not None else None

    def rollback(self) -> None:
        """Roll back all changes and remove their files."""
        for change in self._changes.values():
            change.discard()


def _key(attachment: Attachment) -> tuple[int, CatalogId]:
    """Return an identification of the catalog that is equal for all its attachments."""
    return id(attachment.metastore), attachment.catalog.catalog_id
