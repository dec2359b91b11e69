"""Overview of the Delta tables of catalogs: their locations, and the progress of their mirrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.metastore import Metastore
from forklake.catalog.snapshot_reads import Snapshotted
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable, Table
from forklake.model.kinds import DELTA_TABLE, TABLE
from forklake.store.delta_log import catalogs_with_delta
from forklake.store.mirrors import MirrorStatus, find_status

FOLLOWING = "FOLLOWING"  # the files are the log of record, so nothing is mirrored


@dataclass(frozen=True, slots=True)
class Standing:
    """A Delta table of a catalog, with its newest version and the status of its mirror."""

    catalog: str
    schema: str
    table: Table
    face: DeltaTable
    version: int
    status: MirrorStatus

    @property
    def name(self) -> str:
        """The qualified name of the table."""
        return f"{self.catalog}.{self.schema}.{self.table.table_name}"

    @property
    def is_followed(self) -> bool:
        """Whether the table follows a log that other writers own."""
        return self.face.mode == FaceMode.FOLLOW

    @property
    def mirrored(self) -> int | None:
        """The newest version in the files that we wrote, or None."""
        known = self.status.mirrored_version
        return None if self.is_followed or known < 0 else known

    @property
    def lag(self) -> int | None:
        """The number of versions that are not mirrored yet; None if the table is followed."""
        return None if self.is_followed else self.version - self.status.mirrored_version

    @property
    def state(self) -> str:
        """FOLLOWING, or the state of the mirror. A current mirror lags after the next commit."""
        if self.is_followed:
            return FOLLOWING
        return "LAGGING" if self.lag and self.status.state == "CURRENT" else self.status.state


def delta_catalogs(metastore: Metastore, name: str | None = None) -> list[Catalog]:
    """Return the catalog with this name, or all catalogs that own Delta tables."""
    if name is not None:
        return [metastore.catalog(name)]
    names = metastore.names(catalogs_with_delta(metastore.database))
    return [metastore.catalog(one) for one in sorted(names.values())]


def standings(catalog: Catalog) -> list[Standing]:
    """Return the Delta tables of a catalog that have a location, without inherited ones."""
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
