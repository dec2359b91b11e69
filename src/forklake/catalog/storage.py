"""Storage of catalogs: the bytes of their files, what they share, and what dropping one frees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.model.ids import CatalogId
from forklake.model.usage import Usage, add_usage
from forklake.store.usage import owners_of, read_usage

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore
    from forklake.store.catalogs import CatalogRow


@dataclass(frozen=True, slots=True)
class CatalogStorage:
    """Bytes of the files that a catalog can see at any of its snapshots.

    Args:
        private_bytes: files that it wrote and no other catalog sees.
        shared_bytes: files that other catalogs see as well.
        freed_bytes: files freed by dropping it: the private ones, and those of its ancestors that
            only this catalog still needs.
    """

    catalog_name: str
    private_bytes: int
    shared_bytes: int
    freed_bytes: int


def storage(metastore: Metastore, rows: Sequence[CatalogRow]) -> list[CatalogStorage]:
    """Return the storage of some catalogs."""
    with metastore.database.reading() as connection:
        readers = [row.catalog_id for row in rows]
        known = read_usage(connection, owners_of(connection, readers), readers)
    found: dict[CatalogId, Usage] = {}
    for owner, owned in known.items():
        add_usage(found, owner, owned.intervals, owned.snapshots, owned.points, owned.pins)
    return [_of(row, found.get(row.catalog_id, Usage())) for row in rows]


def _of(row: CatalogRow, usage: Usage) -> CatalogStorage:
    return CatalogStorage(row.catalog_name, usage.private, usage.shared, usage.freed)
