"""The grounds on which worktasks of a run stand: the catalog, a transaction, or a fork.

A ground is entered before the first worktask. `finish` makes what they did known to everybody;
`leave` ends it, however far it was entered, and undoes what is not known by then.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from datetime import timedelta

from forklake.errors import Cancelled, Unavailable
from forklake.model.snapshots import Snapshot
from forklake.reagent.places import Place, Worker
from forklake.reagent.reports import Publication
from forklake.reagent.stamping import Stamp
from forklake.reagent.workbooks import Isolation


class DirectGround:
    """Each worktask has a session of its own, and commits to the catalog."""

    most_workers: int | None = None
    is_inside = False  # of a transaction that is not a worktask's own

    def __init__(self, place: Place, catalog: str, stamp: Stamp, ttl: timedelta) -> None:
        self.catalog = catalog  # in which worktasks work
        self._parent = catalog
        self._place = place
        self._stamp = stamp
        self._ttl = ttl
        self._ending = ExitStack()

    def enter(self) -> None:
        """Make all ready for worktasks."""
        self._since = self._place.head(self.catalog)
        self._room = self._place.room(self.catalog, self._parent)
        self._ending.callback(self._room.close)

    @contextmanager
    def worker(self, stamp: Stamp) -> Iterator[Worker]:
        """The session of a worktask."""
        with closing(self._room.worker(stamp)) as worker:
            yield worker

    def history(self) -> list[Snapshot]:
        """What was committed since the run began, by whomever."""
        return self._place.history(self.catalog, self._since)

    def finish(self) -> Publication | None:
        """Everything is known already."""
        return None

    def leave(self, *, keep: bool) -> str | None:
        """Let go of the catalog; the name of a fork that is kept."""
        self._ending.close()
        return None


class TransactionGround(DirectGround):
    """All worktasks share one session and its one transaction, one after the other."""

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
        """The session of all worktasks."""
        yield self._shared

    def finish(self) -> Publication | None:
        """Commit."""
        transaction, self._open = self._open, None
        assert transaction is not None
        transaction.__exit__(None, None, None)
        return None

    def _roll_back(self) -> None:
        if self._open is not None:
            self._open.__exit__(Cancelled, Cancelled("The run failed."), None)


class ForkGround(DirectGround):
    """Worktasks work in a fork, which is merged into its parent in the end, or dropped."""

    _is_published = False
    _is_kept = False

    def enter(self) -> None:
        """Fork the catalog."""
        # A run that is tried again must not meet its own fork of before.
        self.catalog = f"{self._parent}-run-{self._stamp.run_id}-{secrets.token_hex(2)}"
        self._place.fork(self._parent, self.catalog, self._stamp, self._ttl)
        self._ending.callback(self._drop)
        super().enter()

    def finish(self) -> Publication | None:
        """Merge the fork."""
        published = self._place.publish(self.catalog, self._parent, self._stamp)
        self._is_published = True
        return published

    def leave(self, *, keep: bool) -> str | None:
        """Drop the fork, unless it is to be looked at."""
        self._is_kept = keep and not self._is_published
        super().leave(keep=keep)
        return self.catalog if self._is_kept else None

    def _drop(self) -> None:
        if not self._is_kept:
            with suppress(Unavailable):  # its time to live sees to it
                self._place.drop(self.catalog)


GROUNDS: dict[Isolation, type[DirectGround]] = {
    Isolation.DIRECT: DirectGround,
    Isolation.TRANSACTION: TransactionGround,
    Isolation.FORK: ForkGround,
}
