"""Identifiers, each with a type of its own so that they cannot be confused.

Catalogs, schemas, tables, views, macros and partitionings share one counter; data files, delete
files and column mappings share another; snapshots have a third. Columns are numbered within their
table.

The final ids are assigned by the commit, under the lock of the catalog, so that within one catalog
the order of ids is the order of commits. Until then a transaction uses negative local ids.
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

NO_CATALOG = CatalogId(-1)
UNCOMMITTED = SnapshotId(-1)
# Limit of visible snapshots for rows of the catalog itself: all of them.
FOREVER = SnapshotId(2**63 - 1)

# Columns that hold an id of the entity counter, and of the file counter.
ENTITY_ID_COLUMNS = frozenset(
    {"schema_id", "table_id", "view_id", "macro_id", "partition_id", "object_id", "scope_id"}
)
FILE_ID_COLUMNS = frozenset({"data_file_id", "delete_file_id", "mapping_id"})


class LocalIds:
    """Generator of negative local ids, which the commit replaces by final ids."""

    def __init__(self) -> None:
        self.count = 0

    def take(self) -> int:
        """Return a new local id: -1, -2, …"""
        self.count += 1
        return -self.count
