"""Changes under way: a transaction, and the files that were written for it.

A file is of use only once its commit is known to have happened. It is removed when the commit is
known not to have happened; when nobody knows, because the answer of the database was lost, it
stays, and cleaning up finds it if no snapshot does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from forklake.catalog.reading import Snapshotted
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
from forklake.spark.attachments import Attachment

# A commit that ends with one of these has certainly changed nothing.
_REFUSALS = (Conflict, Forbidden, InvalidInput, Unsupported)


class Change:
    """A transaction on an attached catalog, with the files written for it so far."""

    def __init__(
        self,
        attachment: Attachment,
        info: CommitInfo,
        seen: Snapshotted | None = None,
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
        """Note files that are to go if the change does not happen."""
        self._files.extend(paths)

    @contextmanager
    def committing(self) -> Iterator[Change]:
        """The change, to be made visible at the end, or discarded if something fails."""
        try:
            yield self
        except BaseException:
            self.discard()
            raise
        self.commit()

    def commit(self) -> Committed | None:
        """Make the change visible, or remove its files if it was refused.

        Files that the change itself put out of use go too: those of rows that it deleted again.
        """
        staged = {self.attachment.located(path) for path in self.transaction.staged_paths()}
        try:
            committed = self.transaction.commit()
        except _REFUSALS:
            self._remove_files()
            raise
        with suppress(ForklakeError):  # the change has happened; cleaning up finds what is left
            remove(path for path in self._files if path not in staged)
        return committed

    def remove_unused(self, table: Table) -> None:
        """Remove the files for a table if the change had been made before, under the same key.

        A commit whose answer was lost looks like that too: what it added is kept. If its snapshot
        has expired since, it is not known what that was: the files are left to the orphan scan.
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
        """Forget the change and remove its files."""
        self.transaction.rollback()
        self._remove_files()

    def _remove_files(self) -> None:
        files, self._files = self._files, []
        remove(files)


class Work:
    """The open transaction of a session: it reads any catalogs, and changes one of them.

    Each catalog is read at the snapshot at which it was first looked at, under whichever of its
    aliases.
    """

    def __init__(self, info: CommitInfo, isolation_level: str | None = None) -> None:
        self.info = info
        self._isolation_level = isolation_level
        self._changes: dict[tuple[int, CatalogId], Change] = {}
        self._changed: Change | None = None
        self._has_failed = False

    @property
    def changed(self) -> Change | None:
        """The part of the transaction that changes its catalog."""
        return self._changed

    def uses(self, attachment: Attachment) -> bool:
        """Whether the catalog was read or changed."""
        return _key(attachment) in self._changes

    def on(self, attachment: Attachment) -> Change:
        """The part of the transaction that is about one catalog."""
        if self._has_failed:
            raise InvalidInput(
                "A statement of this transaction has failed, and so has the transaction.",
                remedy="Roll it back.",
            )
        change = self._changes.get(_key(attachment))
        if change is None:
            change = self._changes[_key(attachment)] = Change(
                attachment, self.info, isolation_level=self._isolation_level
            )
        return change

    @contextmanager
    def changing(self, attachment: Attachment) -> Iterator[Change]:
        """The same, to change it. A change that fails midway leaves nothing to build upon."""
        change = self.on(attachment)
        if self._changed is not None and self._changed is not change:
            raise InvalidInput(
                f"The transaction changes the catalog '{self._changed.attachment.alias}' and so"
                f" cannot change '{attachment.alias}' too.",
                remedy="A transaction changes one catalog: commit first.",
            )
        self._changed = change
        try:
            yield change
        except BaseException:
            self._has_failed = True
            raise

    def record_definitions(self) -> None:
        """Record that the outcome depends on which names the catalogs have in use."""
        for change in self._changes.values():
            change.transaction.record_definitions()

    def describe(self, info: CommitInfo) -> None:
        """Say who commits and why; the key stays."""
        self.info = replace(info, idempotency_key=self.info.idempotency_key)
        for change in self._changes.values():
            change.transaction.set_commit_message(info.author, info.message, info.extra_info)

    def commit(self) -> Committed | None:
        """Make all changes visible as one snapshot; None if there are none."""
        if self._has_failed:
            self.rollback()
            raise InvalidInput(
                "A statement of this transaction had failed: it was rolled back.",
                remedy="Run it again from the start.",
            )
        return self._changed.commit() if self._changed is not None else None

    def rollback(self) -> None:
        """Forget all changes and remove their files."""
        for change in self._changes.values():
            change.discard()


def _key(attachment: Attachment) -> tuple[int, CatalogId]:
    """Return what two attachments of one catalog have in common."""
    return id(attachment.metastore), attachment.catalog.catalog_id
