"""Isolation of a run: where its worktasks work (the catalog, one transaction or a fork).

An isolation is entered before the first worktask. `finish` makes the changes visible to other
readers. `leave` releases the catalog in any case and rolls back changes that were not finished.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from datetime import timedelta

from forklake.errors import Cancelled, Unavailable
from forklake.model.snapshots import Snapshot
from forklake.reagent.commit_tags import CommitTag, snapshots_since
from forklake.reagent.places import Place, Worker
from forklake.reagent.reports import MergeReport
from forklake.reagent.workbooks import Isolation


class DirectIsolation:
    """Isolation `direct`: each worktask commits to the catalog in its own session."""

    most_workers: int | None = None
    is_inside = False  # whether worktasks run inside a transaction of the whole run

    def __init__(self, place: Place, catalog: str, tag: CommitTag, ttl: timedelta) -> None:
        self.catalog = catalog  # the catalog that worktasks change
        self._parent = catalog
        self._place = place
        self._tag = tag
        self._ttl = ttl
        self._ending = ExitStack()

    def enter(self) -> None:
        """Attach the catalog."""
        self._since = self._place.catalogs.catalog(self.catalog).current_snapshot()
        self._workspace = self._place.open_workspace(self.catalog, self._parent)
        self._ending.callback(self._workspace.close)

    @contextmanager
    def open_worker(self, tag: CommitTag) -> Iterator[Worker]:
        """Open a session for a worktask and close it at the end of the block."""
        with closing(self._workspace.open_worker(tag)) as worker:
            yield worker

    def history(self) -> list[Snapshot]:
        """Return all snapshots since the run began, also those of other writers."""
        return snapshots_since(self._place.catalogs.catalog(self.catalog), self._since)

    def finish(self) -> MergeReport | None:
        """Do nothing: worktasks have committed themselves."""
        return None

    def leave(self, *, keep: bool) -> str | None:
        """Release the catalog. Return the name of a fork that is kept."""
        self._ending.close()
        return None


class TransactionIsolation(DirectIsolation):
    """Isolation `transaction`: worktasks run one by one in one session and one transaction."""

    most_workers = 1
    is_inside = True
    _open: AbstractContextManager[None] | None = None

    def enter(self) -> None:
        """Begin the transaction."""
        super().enter()
        self._shared = self._workspace.open_worker(self._tag)
        self._ending.callback(self._shared.close)
        transaction = self._shared.transaction()
        transaction.__enter__()
        self._open = transaction
        self._ending.callback(self._roll_back)

    @contextmanager
    def open_worker(self, tag: CommitTag) -> Iterator[Worker]:
        """Yield the session that all worktasks share."""
        yield self._shared

    def finish(self) -> MergeReport | None:
        """Commit the transaction."""
        transaction, self._open = self._open, None
        assert transaction is not None
        transaction.__exit__(None, None, None)
        return None

    def _roll_back(self) -> None:
        if self._open is not None:
            self._open.__exit__(Cancelled, Cancelled("The run failed."), None)


class ForkIsolation(DirectIsolation):
    """Isolation `fork`: worktasks work in a fork, which is finally merged or dropped."""

    _is_merged = False
    _is_kept = False

    def enter(self) -> None:
        """Fork the catalog and attach the fork."""
        # Random: a retried run has the same id, and must not meet the fork of its earlier try.
        self.catalog = f"{self._parent}-run-{self._tag.run_id}-{secrets.token_hex(2)}"
        self._place.fork(self._parent, self.catalog, self._tag, self._ttl)
        self._ending.callback(self._drop)
        super().enter()

    def finish(self) -> MergeReport | None:
        """Merge the fork into its parent."""
        report = self._place.merge_fork(self.catalog, self._parent, self._tag)
        self._is_merged = True
        return report

    def leave(self, *, keep: bool) -> str | None:
        """Drop the fork, unless it was not merged and is to be kept."""
        self._is_kept = keep and not self._is_merged
        super().leave(keep=keep)
        return self.catalog if self._is_kept else None

    def _drop(self) -> None:
        if not self._is_kept:
            with suppress(Unavailable):  # the fork expires after its time to live
                self._place.catalogs.drop_catalog(self.catalog, if_exists=True)


ISOLATIONS: dict[Isolation, type[DirectIsolation]] = {
    Isolation.DIRECT: DirectIsolation,
    Isolation.TRANSACTION: TransactionIsolation,
    Isolation.FORK: ForkIsolation,
}
