"""All Delta tables of catalogs: where they are, and how far their mirrors have got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading
from forklake.catalog.metastore import Metastore
from forklake.catalog.reading import Snapshotted
from forklake.model.entities import DeltaTable, Table
from forklake.model.faces import FaceMode
from forklake.model.kinds import DELTA_TABLE, TABLE
from forklake.store.delta_log import catalogs_with_delta
from forklake.store.mirrors import MirrorStatus, find_status

FOLLOWING = "FOLLOWING"  # the files are the log of record: there is nothing to mirror


@dataclass(frozen=True, slots=True)
class Standing:
    """A Delta table of a catalog, its newest version, and where its mirror is."""

    catalog: str
    schema: str
    table: Table
    face: DeltaTable
    version: int
    status: MirrorStatus

    @property
    def name(self) -> str:
        """The table's name in full."""
        return f"{self.catalog}.{self.schema}.{self.table.table_name}"

    @property
    def is_followed(self) -> bool:
        """Whether the table follows the log of others."""
        return self.face.mode == FaceMode.FOLLOW

    @property
    def mirrored(self) -> int | None:
        """The newest version that the files tell; None if there is none that we wrote."""
        known = self.status.mirrored_version
        return None if self.is_followed or known < 0 else known

    @property
    def lag(self) -> int | None:
        """How many versions wait to be mirrored; None if nothing is mirrored at all."""
        return None if self.is_followed else self.version - self.status.mirrored_version

    @property
    def state(self) -> str:
        """FOLLOWING, or what `MirrorStatus` says; a commit since then makes it lag."""
        if self.is_followed:
            return FOLLOWING
        return "LAGGING" if self.lag and self.status.state == "CURRENT" else self.status.state


def delta_catalogs(metastore: Metastore, name: str | None = None) -> list[Catalog]:
    """The catalog of a name, or all that have Delta tables of their own."""
    if name is not None:
        return [metastore.catalog(name)]
    names = metastore.names(catalogs_with_delta(metastore.database))
    return [metastore.catalog(one) for one in sorted(names.values())]


def standings(catalog: Catalog) -> list[Standing]:
    """The Delta tables of a catalog that have a place, without those that it only inherits."""
    seen = catalog.now()
    found = [_standing(catalog, seen, face, table) for face, table in _own(catalog, seen)]
    return sorted(found, key=lambda one: one.name)


def _own(catalog: Catalog, seen: Snapshotted) -> Iterator[tuple[DeltaTable, Table]]:
    for face in seen.state.rows(DELTA_TABLE):
        table = seen.state.get(TABLE, (face.table_id,))
        if face.catalog_id == catalog.catalog_id and face.location and isinstance(table, Table):
            yield face, table


def _standing(catalog: Catalog, seen: Snapshotted, face: DeltaTable, table: Table) -> Standing:
    blank = MirrorStatus(catalog_id=catalog.catalog_id, table_id=table.table_id)
    return Standing(
        catalog.name,
        seen.state.schema_of(table).schema_name,
        table,
        face,
        FaceReading(seen, table).latest().version,
        find_status(catalog.database, blank),
    )
