"""Relation of two catalogs: which of their rows are the same.

Catalogs that share a lineage have the same row ids for rows that are older than the point where
they diverged. Each catalog assigns its own ids to later rows. Merges record the id ranges of the
rows that they bring.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads, load_state
from forklake.model.entities import Table
from forklake.model.ids import NO_CATALOG, CatalogId, SnapshotId, TableId
from forklake.model.kinds import TABLE
from forklake.model.merges import Merge
from forklake.model.snapshots import Head
from forklake.store.adoption import merges_between
from forklake.store.database import Connection


@dataclass(frozen=True)
class CatalogRelation:
    """The state that two catalogs share where their lineages diverge, and later merges."""

    shared_state: SnapshotReads | None = None
    first_id: CatalogId = NO_CATALOG
    merges: list[Merge] = field(default_factory=list)

    @property
    def shares_lineage(self) -> bool:
        """Whether the catalogs share a lineage, so that row ids identify the same rows."""
        return self.shared_state is not None

    def first_new_row_id(self, table_id: TableId) -> int:
        """Return the first row id that each catalog assigned independently."""
        assert self.shared_state is not None
        table = self.shared_state.state.get(TABLE, (table_id,))
        return self.shared_state.statistics(table).next_row_id if isinstance(table, Table) else 0

    def equal_row_ranges(self, table_id: TableId) -> list[tuple[int, int, int]]:
        """Return ranges of equal rows: (id in the first catalog, id in the second, count)."""
        return [
            (one.becomes, one.first, one.count)
            if one.catalog_id == self.first_id
            else (one.first, one.becomes, one.count)
            for one in self.merges
            if one.table_id == table_id and one.count
        ]


def relate_catalogs(one: Catalog, other: Catalog) -> CatalogRelation:
    """Return how two catalogs of one metastore are related."""
    with one.database.reading() as connection:
        common = _last_common_snapshot(connection, one, other)
        if common is None:
            return CatalogRelation()
        merges = merges_between(connection, one.catalog_id, other.catalog_id)
        # The rows are retained for the forks pinned there, even if the snapshot has expired.
        head = Head(common, 0, datetime.fromtimestamp(0, UTC))
        state = load_state(connection, one.catalog_id, head, inherits=one.inherits)
    return CatalogRelation(one.seen(state), one.catalog_id, merges)


def _last_common_snapshot(
    connection: Connection, one: Catalog, other: Catalog
) -> SnapshotId | None:
    """Return the newest snapshot that both catalogs see, or None."""
    for child, parent in ((one, other), (other, one)):
        if child.row.parent_catalog_id == parent.catalog_id:
            return child.row.fork_snapshot
    rows = connection.fetch(
        "SELECT a.upto_snapshot, b.upto_snapshot FROM ducklake_catalog_lineage a"
        " JOIN ducklake_catalog_lineage b ON b.ancestor_id = a.ancestor_id"
        " AND b.catalog_id = :other WHERE a.catalog_id = :one",
        one=one.catalog_id,
        other=other.catalog_id,
    )
    return max((SnapshotId(min(row)) for row in rows), default=None)
