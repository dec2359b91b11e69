"""Storage: what each catalog's files take, with whom it shares them, and what dropping it frees."""

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
    """The bytes of files that a catalog can see at any of its snapshots.

    `private_bytes` it wrote and nobody else sees; `shared_bytes` others see too; `freed_bytes` go
    when it is dropped: the private ones, and what only it still keeps of its ancestors.
    """

    catalog_name: str
    private_bytes: int
    shared_bytes: int
    freed_bytes: int


def storage(metastore: Metastore, rows: Sequence[CatalogRow]) -> list[CatalogStorage]:
    """The storage of some catalogs."""
    with metastore.database.reading() as connection:
        readers = [row.catalog_id for row in rows]
        known = read_usage(connection, owners_of(connection, readers), readers)
    found: dict[CatalogId, Usage] = {}
    for owner, owned in known.items():
        add_usage(found, owner, owned.intervals, owned.snapshots, owned.points, owned.pins)
    return [_of(row, found.get(row.catalog_id, Usage())) for row in rows]


def _of(row: CatalogRow, usage: Usage) -> CatalogStorage:
    return CatalogStorage(row.catalog_name, usage.private, usage.shared, usage.freed)
