"""Scratch forks: a fork for one request, which is gone afterwards unless it is kept."""

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

_NAME_LENGTH = 40  # of the parent's, in the name of a fork


class Scratch(Catalog):
    """A fork that goes at the end, or with its time to live if nobody comes to the end."""

    is_kept = False

    def keep(self, name: str | None = None, *, ttl: timedelta | None = None) -> Catalog:
        """Let it stay, without limit or for some time, and under another name if one is given."""
        self.extend(ttl)
        self.is_kept = True
        return self if name is None else self._metastore.rename_catalog(self.name, name)


@contextmanager
def scratch(
    metastore: Metastore, parent: str, *, ttl: timedelta, at: int | None = None
) -> Iterator[Scratch]:
    """A fork under a name that nobody else has."""
    name = f"{parent[:_NAME_LENGTH]}-{uuid.uuid4().hex[:12]}"
    fork = Scratch(metastore, metastore.fork(parent, name, at=at, ttl=ttl).row)
    try:
        yield fork
    finally:
        if not fork.is_kept:
            with suppress(Unavailable):  # its time to live sees to it
                metastore.drop_catalog(fork.name, if_exists=True)
