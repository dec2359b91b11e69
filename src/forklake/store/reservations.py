"""Reservations of catalogs: only the thread that has reserved a catalog commits to it.

A statement that other commits have outrun several times reserves its catalog and runs once more,
and so ends however many others write.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from forklake.model.ids import CatalogId

TURNS = 8  # at once in one process, of transactions that start over


class Turn(Protocol):
    """A turn among the transactions that start over after a conflict."""

    def reserve(self) -> AbstractContextManager[None]:
        """Make the commits of others to the catalog wait until the end."""
        ...


class Reservations:
    """The catalogs that threads of this process have reserved in one database."""

    def __init__(self) -> None:
        self._turns = [threading.Lock() for _ in range(TURNS)]
        self._changed = threading.Condition()
        self._threads: dict[CatalogId, int] = {}
        self._commits: dict[CatalogId, int] = {}  # how many are under way in this process

    def turn(self, catalog_id: CatalogId) -> threading.Lock:
        """Return the lock of this process before the turn of a catalog in the database.

        One connection at most waits for the turn of a catalog, or there would not be enough.
        """
        return self._turns[catalog_id % len(self._turns)]

    @contextmanager
    def hold(self, catalog_id: CatalogId) -> Iterator[None]:
        """Reserve a catalog for the current thread, after the commits that are under way.

        Commits that waited in the database instead would keep connections that the statement of
        the reservation needs.
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
        """Whether the current thread has reserved a catalog."""
        return self._threads.get(catalog_id) == threading.get_ident()

    def commit(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        """Commit to a catalog inside; wait while another thread has reserved it."""
        return _Commit(self, catalog_id)

    def begin(self, catalog_id: CatalogId) -> None:
        """Wait while another thread has reserved a catalog, and count a commit to it."""
        current = threading.get_ident()
        with self._changed:
            while self._threads.get(catalog_id, current) != current:
                self._changed.wait()
            self._commits[catalog_id] = self._commits.get(catalog_id, 0) + 1

    def end(self, catalog_id: CatalogId) -> None:
        """Count the end of a commit."""
        with self._changed:
            left = self._commits.pop(catalog_id) - 1
            if left:
                self._commits[catalog_id] = left
            elif self._threads:
                self._changed.notify_all()


class _Commit:
    """A commit under way. A generator would cost each commit twice as much."""

    __slots__ = ("_catalog_id", "_reservations")

    def __init__(self, reservations: Reservations, catalog_id: CatalogId) -> None:
        self._reservations = reservations
        self._catalog_id = catalog_id

    def __enter__(self) -> None:
        self._reservations.begin(self._catalog_id)

    def __exit__(self, *_: object) -> None:
        self._reservations.end(self._catalog_id)
