"""Reservations of catalogs: only the thread that has reserved a catalog commits to it.

A statement that has conflicted with other commits several times reserves its catalog and runs once
more. So it finishes, however many others write.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from forklake.model.ids import CatalogId

TURNS = 8  # maximum number of turns of one process at a time


class Turn(Protocol):
    """Turn among the transactions that are retried after a conflict."""

    def reserve(self) -> AbstractContextManager[None]:
        """Make the commits of others to the catalog wait until the context ends."""
        ...


class Reservations:
    """Catalogs of one database that threads of this process have reserved."""

    def __init__(self) -> None:
        self._turns = [threading.Lock() for _ in range(TURNS)]
        self._changed = threading.Condition()
        self._threads: dict[CatalogId, int] = {}
        self._commits: dict[CatalogId, int] = {}  # number of commits in progress, by catalog

    def turn(self, catalog_id: CatalogId) -> threading.Lock:
        """Return the lock of this process that is taken before the turn in the database.

        It limits the connections that wait for a turn of the same catalog to one.
        """
        return self._turns[catalog_id % len(self._turns)]

    @contextmanager
    def hold(self, catalog_id: CatalogId) -> Iterator[None]:
        """Reserve a catalog for the current thread, once the commits in progress have ended.

        If they waited in the database instead, they would occupy connections that the statement
        with the reservation needs.
        """
        with self._changed:
            self._changed.wait_for(lambda: catalog_id not in self._threads)
            self._threads[catalog_id] = threading.get_ident()
            self._changed.wait_for(lambda: catalog_id not in self._commits)
        try:
            yield
        finally:
            with self._changed:
                del self._threads[catalog_id]
                self._changed.notify_all()

    def is_mine(self, catalog_id: CatalogId) -> bool:
        """Return whether the current thread has reserved a catalog."""
        return self._threads.get(catalog_id) == threading.get_ident()

    def commit(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        """Wrap a commit to a catalog. Waits while another thread has reserved it."""
        return _Commit(self, catalog_id)

    def begin(self, catalog_id: CatalogId) -> None:
        """Wait while another thread has reserved a catalog, and count a commit to it."""
        current = threading.get_ident()
        with self._changed:
            while self._threads.get(catalog_id, current) != current:
                self._changed.wait()
            self._commits[catalog_id] = self._commits.get(catalog_id, 0) + 1

    def end(self, catalog_id: CatalogId) -> None:
        """Count the end of a commit, and wake threads that wait for it."""
        with self._changed:
            left = self._commits.pop(catalog_id) - 1
            if left:
                self._commits[catalog_id] = left
            elif self._threads:
                self._changed.notify_all()


class _Commit:
    """Context of a commit in progress. A generator would take twice as long."""

    __slots__ = ("_catalog_id", "_reservations")

    def __init__(self, reservations: Reservations, catalog_id: CatalogId) -> None:
        self._reservations = reservations
        self._catalog_id = catalog_id

    def __enter__(self) -> None:
        self._reservations.begin(self._catalog_id)

    def __exit__(self, *_: object) -> None:
        self._reservations.end(self._catalog_id)
