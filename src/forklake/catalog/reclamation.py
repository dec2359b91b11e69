"""Reclaiming of dropped catalogs: their rows, then their files after the grace period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.cleanup import remove_scheduled
from forklake.catalog.expiry import Moment, moment_of
from forklake.model.ids import CatalogId
from forklake.model.options import OPTIONS, as_age
from forklake.store.reclamation import owners_of_scheduled_files, reclaim_dropped
from forklake.store.scheduled import list_scheduled

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

_GRACE = "delete_older_than"


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """Result: ids of the reclaimed catalogs, and paths of the deleted files."""

    catalogs: tuple[CatalogId, ...]
    files: tuple[str, ...]


def reclaim(
    metastore: Metastore, limit: int, *, older_than: Moment | None, cleanup_all: bool
) -> Reclaimed:
    """Reclaim up to `limit` dropped catalogs, and delete files that they had scheduled.

    Args:
        older_than: delete files scheduled before this time; defaults to the option
            `delete_older_than` of the metastore.
        cleanup_all: delete all scheduled files of these catalogs.
    """
    catalogs = reclaim_dropped(metastore.database, limit)
    if older_than is None:
        older_than = as_age(metastore.options().get(_GRACE) or str(OPTIONS[_GRACE].default))
    before = None if cleanup_all else moment_of(older_than)
    removed: list[str] = []
    with metastore.database.reading() as connection:
        owners = owners_of_scheduled_files(connection, limit)
    for row in owners:
        with metastore.database.reading() as connection:
            waiting = list_scheduled(connection, row.catalog_id, before=before)
        removed += remove_scheduled(Catalog(metastore, row), waiting)
    return Reclaimed(tuple(catalogs), tuple(removed))
