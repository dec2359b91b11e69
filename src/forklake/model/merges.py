"""Merges of one catalog into another: what is remembered of them, and what a commit is told.

Two catalogs on one line count the ids of new rows on from the same number, each for itself. Rows
that one takes over from the other get ids of its own, all of a merge in one piece: the first and
the ones after it become another number and the ones after that.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.model.entities import DataFile, DeleteFile
from forklake.model.files import ColumnBounds
from forklake.model.ids import CatalogId, SnapshotId, TableId

# Stands for all tables.
WHOLE_CATALOG = TableId(0)


@dataclass(frozen=True, slots=True)
class RowIds:
    """Ids of new rows of a table in the catalog that they come from."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class MergeNote:
    """What a commit takes over, and from where.

    Args:
        tables: those that were looked at; none if it was everything.
        only_appends: it does nothing but add rows, so that others may have committed meanwhile.
    """

    source_id: CatalogId
    source_snapshot: SnapshotId
    tables: tuple[TableId, ...] = ()
    only_appends: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge of the past, as far as it is about one table, or about all of them."""

    catalog_id: CatalogId
    snapshot_id: SnapshotId
    source_id: CatalogId
    source_snapshot: SnapshotId
    table_id: TableId
    first: int
    count: int
    becomes: int

    def is_about(self, table_id: TableId) -> bool:
        """Whether a table was looked at."""
        return self.table_id in (WHOLE_CATALOG, table_id)


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """A data file of another catalog, with its deletes, that becomes part of this one as it is.

    The path is as this catalog keeps it; so is that of the delete file.
    """

    file: DataFile
    bounds: tuple[ColumnBounds, ...] = ()
    delete_file: DeleteFile | None = None
    deleted_positions: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows of it are live."""
        in_file = self.delete_file.delete_count if self.delete_file is not None else 0
        return self.file.record_count - in_file - len(self.deleted_positions)
