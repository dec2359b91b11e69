"""Overview of the Delta tables of catalogs: their locations, and the progress of their mirrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.metastore import Metastore
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable, Table
from forklake.model.kinds import DELTA_TABLE, TABLE
from forklake.store.delta_log import catalogs_with_delta
from forklake.store.mirrors import MirrorStatus, find_status

FOLLOWING = "FOLLOWING"  # the files are the log of record, so nothing is mirrored


@dataclass(frozen=True, slots=True)
class DeltaTableStatus:
    """A Delta table of a catalog, with its newest version and the status of its mirror."""

    catalog: str
    schema: str
    table: Table
    delta_table: DeltaTable
    version: int
    mirror: MirrorStatus

    @property
    def name(self) -> str:
        """The qualified name of the table."""
        return f"{self.catalog}.{self.schema}.{self.table.table_name}"

    @property
    def is_followed(self) -> bool:
        """Whether the table follows a log that other writers own."""
        return self.delta_table.mode == FaceMode.FOLLOW

    @property
    def mirrored_version(self) -> int | None:
        """The newest version in the files that we wrote, or None."""
        version = self.mirror.mirrored_version
        return None if self.is_followed or version < 0 else version

    @property
    def lag(self) -> int | None:
        """The number of versions that are not mirrored yet; None if the table is followed."""
        return None if self.is_followed else self.version - self.mirror.mirrored_version

    @property
    def state(self) -> str:
        """FOLLOWING, or the state of the mirror. A current mirror lags after the next commit."""
        if self.is_followed:
            return FOLLOWING
        return "LAGGING" if self.lag and self.mirror.state == "CURRENT" else self.mirror.state


def delta_catalogs(metastore: Metastore, name: str | None = None) -> list[Catalog]:
    """Return the catalog with this name, or all catalogs that own Delta tables."""
    if name is not None:
        return [metastore.catalog(name)]
    names = metastore.names(catalogs_with_delta(metastore.database))
    return [metastore.catalog(one) for one in sorted(names.values())]


def list_delta_tables(catalog: Catalog) -> list[DeltaTableStatus]:
    """Return the Delta tables of a catalog that have a location, without inherited ones."""
    seen = catalog.now()
    statuses = [
        _read_status(catalog, seen, delta_table, table)
        for delta_table, table in _owned_tables(catalog, seen)
    ]
    return sorted(statuses, key=lambda one: one.name)


def _owned_tables(catalog: Catalog, seen: SnapshotReads) -> Iterator[tuple[DeltaTable, Table]]:
    for delta_table in seen.state.rows(DELTA_TABLE):
        table = seen.state.get(TABLE, (delta_table.table_id,))
        if (
            delta_table.catalog_id == catalog.catalog_id
            and delta_table.location
            and isinstance(table, Table)
        ):
            yield delta_table, table


def _read_status(
    catalog: Catalog, seen: SnapshotReads, delta_table: DeltaTable, table: Table
) -> DeltaTableStatus:
    blank = MirrorStatus(catalog_id=catalog.catalog_id, table_id=table.table_id)
    return DeltaTableStatus(
        catalog.name,
        seen.state.schema_of(table).schema_name,
        table,
        delta_table,
        FaceReading(seen, table).latest().version,
        find_status(catalog.database, blank),
    )
