"""Identifiers, one type each so that they cannot be swapped.

Catalogs, schemas, tables, views, macros and partition specs share one counter; data files,
delete files and column mappings another; snapshots a third. Columns are numbered within their
table.

A transaction does not know its final ids: it hands out negative ones (`local`), which the commit
replaces inside the catalog's lock, so that in one catalog the order of ids is the order of commits.
"""

from __future__ import annotations

from typing import NewType

CatalogId = NewType("CatalogId", int)
SchemaId = NewType("SchemaId", int)
TableId = NewType("TableId", int)
ViewId = NewType("ViewId", int)
MacroId = NewType("MacroId", int)
PartitionId = NewType("PartitionId", int)
ColumnId = NewType("ColumnId", int)
SnapshotId = NewType("SnapshotId", int)
DataFileId = NewType("DataFileId", int)
DeleteFileId = NewType("DeleteFileId", int)
MappingId = NewType("MappingId", int)

NOBODY = CatalogId(-1)
UNCOMMITTED = SnapshotId(-1)
# The cap of a catalog's own rows: it sees all of them.
FOREVER = SnapshotId(2**63 - 1)

# Columns that hold a number of the entity counter, and of the file counter.
ENTITY_ID_COLUMNS = frozenset(
    {"schema_id", "table_id", "view_id", "macro_id", "partition_id", "object_id", "scope_id"}
)
FILE_ID_COLUMNS = frozenset({"data_file_id", "delete_file_id", "mapping_id"})


class LocalIds:
    """Hands out negative ids, and later maps them to the numbers that the commit took."""

    def __init__(self) -> None:
        self.count = 0

    def take(self) -> int:
        """A fresh local id: -1, -2, …"""
        self.count += 1
        return -self.count
