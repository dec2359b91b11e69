"""Scratch forks: forks for one request, which are dropped afterwards unless they are kept."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.errors import Unavailable

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

_NAME_LENGTH = 40  # characters of the parent name that the name of a fork contains


class Scratch(Catalog):
    """A fork that is dropped at the end of its block, or by its time to live after a crash."""

    is_kept = False

    def keep(self, name: str | None = None, *, ttl: timedelta | None = None) -> Catalog:
        """Keep the fork, with a new time to live or without limit, optionally under a new name."""
        self.extend(ttl)
        self.is_kept = True
        return self if name is None else self._metastore.rename_catalog(self.name, name)


@contextmanager
def scratch(
    metastore: Metastore, parent: str, *, ttl: timedelta, at: int | None = None
) -> Iterator[Scratch]:
    """Yield a fork with a unique name, and drop it at the end unless it is kept."""
    name = f"{parent[:_NAME_LENGTH]}-{uuid.uuid4().hex[:12]}"
    fork = Scratch(metastore, metastore.fork(parent, name, at=at, ttl=ttl).row)
    try:
        yield fork
    finally:
        if not fork.is_kept:
            with suppress(Unavailable):  # it is dropped when its time to live ends
                metastore.drop_catalog(fork.name, if_exists=True)
