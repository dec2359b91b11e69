"""Merges of one catalog into another: their records, and the input of a commit.

Two catalogs of one lineage count new row ids from the same number independently. Rows that are
merged from one into the other therefore get new ids, as one range per merge and table: `first` and
the ids after it become `becomes` and the ids after that.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.model.entities import DataFile, DeleteFile
from forklake.model.files import ColumnBounds
from forklake.model.ids import CatalogId, SnapshotId, TableId

# Table id that stands for all tables.
WHOLE_CATALOG = TableId(0)


@dataclass(frozen=True, slots=True)
class RowIds:
    """Range of row ids of a table in the source catalog of a merge."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class MergeNote:
    """Source of a merge, as recorded by its commit.

    Args:
        tables: tables that were merged; empty for all.
        only_appends: the merge only adds rows, so concurrent commits to the target are allowed.
    """

    source_id: CatalogId
    source_snapshot: SnapshotId
    tables: tuple[TableId, ...] = ()
    only_appends: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Record of an earlier merge, for one table or for all of them."""

    catalog_id: CatalogId
    snapshot_id: SnapshotId
    source_id: CatalogId
    source_snapshot: SnapshotId
    table_id: TableId
    first: int
    count: int
    becomes: int

    def is_about(self, table_id: TableId) -> bool:
        """Return whether the merge covered a table."""
        return self.table_id in (WHOLE_CATALOG, table_id)


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """A data file of another catalog, with its deletes, that this catalog adopts unchanged.

    The paths of the data file and the delete file are stored paths of the adopting catalog.
    """

    file: DataFile
    bounds: tuple[ColumnBounds, ...] = ()
    delete_file: DeleteFile | None = None
    deleted_positions: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of its live rows."""
        in_file = self.delete_file.delete_count if self.delete_file is not None else 0
        return self.file.record_count - in_file - len(self.deleted_positions)
