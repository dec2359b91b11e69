"""Forks that belong to a run: only it may merge them, and nobody may fork them, until released.

What a run that failed has left behind was never meant for others. Without a hold somebody could
fork it, or merge it, and so bring it to light after all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import InvalidInput
from forklake.store.catalogs import CatalogRow
from forklake.store.database import Connection
from forklake.store.holds import find_holder, holds_insert
from forklake.store.holds import release as release_catalog
from forklake.store.operations import Operation


def fork_held(
    metastore: Metastore,
    parent: str,
    name: str,
    *,
    holder: str,
    at: int | None = None,
    ttl: timedelta | None = None,
) -> Catalog:
    """A fork that belongs to its holder from its first moment on."""
    if not holder:
        raise InvalidInput("The holder of a fork has no name.", remedy="Give one.")

    def hold(_: Connection, made: Sequence[CatalogRow]) -> list[Operation]:
        return [holds_insert([row.catalog_id for row in made], holder)]

    metastore.fork_many(parent, [name], at=at, ttl=ttl, besides=hold)
    return metastore.catalog(name)


def holder_of(metastore: Metastore, name: str) -> str | None:
    """Who holds a fork, if anybody does."""
    with metastore.database.reading() as connection:
        return find_holder(connection, metastore.catalog(name).catalog_id)


def release(metastore: Metastore, name: str) -> None:
    """Let everybody use a fork."""
    release_catalog(metastore.database, metastore.catalog(name).catalog_id)
