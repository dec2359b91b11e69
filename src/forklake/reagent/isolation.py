"""Isolation of a run: where its worktasks work (the catalog, one transaction or a fork).

A ground is entered before the first worktask. `finish` publishes the changes to other readers, and
`leave` releases the ground in any case and rolls back changes that were not finished.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from datetime import timedelta

from forklake.errors import Cancelled, Unavailable
from forklake.model.snapshots import Snapshot
from forklake.reagent.commit_tags import Stamp, snapshots_since
from forklake.reagent.places import Place, Worker
from forklake.reagent.reports import Publication
from forklake.reagent.workbooks import Isolation


class DirectGround:
    """Ground of `direct`: each worktask commits to the catalog in its own session."""

    most_workers: int | None = None
    is_inside = False  # whether worktasks run inside a transaction of the whole run

    def __init__(self, place: Place, catalog: str, stamp: Stamp, ttl: timedelta) -> None:
        self.catalog = catalog  # the catalog that worktasks change
        self._parent = catalog
        self._place = place
        self._stamp = stamp
        self._ttl = ttl
        self._ending = ExitStack()

    def enter(self) -> None:
        """Attach the catalog."""
        self._since = self._place.catalogs.catalog(self.catalog).current_snapshot()
        self._room = self._place.room(self.catalog, self._parent)
        self._ending.callback(self._room.close)

    @contextmanager
    def worker(self, stamp: Stamp) -> Iterator[Worker]:
        """Open a session for a worktask and close it at the end of the block."""
        with closing(self._room.worker(stamp)) as worker:
            yield worker

    def history(self) -> list[Snapshot]:
        """Return all snapshots since the run began, also those of other writers."""
        return snapshots_since(self._place.catalogs.catalog(self.catalog), self._since)

    def finish(self) -> Publication | None:
        """Do nothing: worktasks have committed themselves."""
        return None

    def leave(self, *, keep: bool) -> str | None:
        """Release the catalog. Return the name of a fork that is kept."""
        self._ending.close()
        return None


class TransactionGround(DirectGround):
    """Ground of `transaction`: worktasks run one by one in one session and one transaction."""

    most_workers = 1
    is_inside = True
    _open: AbstractContextManager[None] | None = None

    def enter(self) -> None:
        """Begin the transaction."""
        super().enter()
        self._shared = self._room.worker(self._stamp)
        self._ending.callback(self._shared.close)
        transaction = self._shared.transaction()
        transaction.__enter__()
        self._open = transaction
        self._ending.callback(self._roll_back)

    @contextmanager
    def worker(self, stamp: Stamp) -> Iterator[Worker]:
        """Yield the session that all worktasks share."""
        yield self._shared

    def finish(self) -> Publication | None:
        """Commit the transaction."""
        transaction, self._open = self._open, None
        assert transaction is not None
        transaction.__exit__(None, None, None)
        return None

    def _roll_back(self) -> None:
        if self._open is not None:
            self._open.__exit__(Cancelled, Cancelled("The run failed."), None)


class ForkGround(DirectGround):
    """Ground of `fork`: worktasks work in a fork, which is finally merged or dropped."""

    _is_published = False
    _is_kept = False

    def enter(self) -> None:
        """Fork the catalog and attach the fork."""
        # Random: a retried run has the same id, and must not meet the fork of its earlier try.
        self.catalog = f"{self._parent}-run-{self._stamp.run_id}-{secrets.token_hex(2)}"
        self._place.fork(self._parent, self.catalog, self._stamp, self._ttl)
        self._ending.callback(self._drop)
        super().enter()

    def finish(self) -> Publication | None:
        """Merge the fork into its parent."""
        published = self._place.merge_fork(self.catalog, self._parent, self._stamp)
        self._is_published = True
        return published

    def leave(self, *, keep: bool) -> str | None:
        """Drop the fork, unless it was not merged and is to be kept."""
        self._is_kept = keep and not self._is_published
        super().leave(keep=keep)
        return self.catalog if self._is_kept else None

    def _drop(self) -> None:
        if not self._is_kept:
            with suppress(Unavailable):  # the fork expires after its time to live
                self._place.catalogs.drop_catalog(self.catalog, if_exists=True)


GROUNDS: dict[Isolation, type[DirectGround]] = {
    Isolation.DIRECT: DirectGround,
    Isolation.TRANSACTION: TransactionGround,
    Isolation.FORK: ForkGround,
}
