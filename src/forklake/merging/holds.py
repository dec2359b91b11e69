"""Holds on forks: only the holder, such as a run, may merge a held fork, and it cannot be forked.

A run that fails leaves an unfinished fork behind. Without a hold, another client could fork or
merge it, and so expose its data.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import InvalidInput
from forklake.model.requests import ForkRequest
from forklake.store.catalogs import CatalogRow
from forklake.store.database import Connection
from forklake.store.holds import find_holder, holds_insert
from forklake.store.holds import release as release_catalog
from forklake.store.operations import Operation


def create_held_fork(
    metastore: Metastore,
    parent: str,
    name: str,
    *,
    holder: str,
    at: int | None = None,
    ttl: timedelta | None = None,
) -> Catalog:
    """Create a fork that is held by `holder` from the commit that creates it."""
    if not holder:
        raise InvalidInput(
            "The holder of a fork cannot be empty.", remedy="Pass a name as `holder`."
        )

    def hold(_: Connection, made: Sequence[CatalogRow]) -> list[Operation]:
        return [holds_insert([row.catalog_id for row in made], holder)]

    request = ForkRequest(parent, [name], at=at, ttl=ttl)
    (row,) = metastore.create_forks(request, besides=hold).rows
    return Catalog(metastore, row)


def holder_of(metastore: Metastore, name: str) -> str | None:
    """Return the holder of a fork, or None."""
    with metastore.database.reading() as connection:
        return find_holder(connection, metastore.catalog(name).catalog_id)


def release_fork(metastore: Metastore, name: str) -> None:
    """Remove the hold of a fork, so that every client can use it."""
    release_catalog(metastore.database, metastore.catalog(name).catalog_id)
