"""Versioned rows of a catalog: each is valid from `begin_snapshot` until it is ended.

The fields of a class are the columns of its table, in the order in which they are read and
written; `catalog_id` is the catalog that wrote the row, which may be an ancestor of a fork.
`KINDS` (in `kinds`) defines the table and the identity of each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forklake.model.ids import (
    NO_CATALOG,
    UNCOMMITTED,
    CatalogId,
    ColumnId,
    DataFileId,
    DeleteFileId,
    MacroId,
    MappingId,
    PartitionId,
    SchemaId,
    SnapshotId,
    TableId,
    ViewId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Fields common to all versioned rows: the writer, and the snapshot in which the row begins."""

    catalog_id: CatalogId = NO_CATALOG
    begin_snapshot: SnapshotId = UNCOMMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema(Row):
    """A namespace of tables, views and macros."""

    schema_id: SchemaId
    schema_uuid: str
    schema_name: str
    path: str
    path_is_relative: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Row):
    """A table, without its columns, which are separate rows."""

    table_id: TableId
    table_uuid: str
    schema_id: SchemaId
    table_name: str
    path: str
    path_is_relative: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Row):
    """One node of the schema of a table: a column, or a field inside of one (`parent_column`).

    `initial_default` is the value of the column in files that were written before it existed;
    `default_value` is the value of new rows that do not set it.
    """

    table_id: TableId
    column_id: ColumnId
    column_order: int
    column_name: str
    column_type: str
    initial_default: str | None = None
    default_value: str | None = None
    nulls_allowed: bool = True
    parent_column: ColumnId | None = None
    default_value_type: str | None = None
    default_value_dialect: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Row):
    """A stored query."""

    view_id: ViewId
    view_uuid: str
    schema_id: SchemaId
    view_name: str
    dialect: str
    sql: str
    column_aliases: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro(Row):
    """A stored function; its bodies are in its implementations."""

    macro_id: MacroId
    schema_id: SchemaId
    macro_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag(Row):
    """A key and value on a schema, table, view or macro; comments are the key `comment`."""

    object_id: int
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnTag(Row):
    """A key and value on a column."""

    table_id: TableId
    column_id: ColumnId
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Row):
    """A partitioning of a table, for the snapshots in which new files use it."""

    partition_id: PartitionId
    table_id: TableId


_MARKS = 12  # bytes of a Parquet file for its magic numbers and the length of the footer


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile(Row):
    """A Parquet file of a table."""

    table_id: TableId
    data_file_id: DataFileId
    file_order: int | None = None
    path: str
    path_is_relative: bool = True
    file_format: str = "parquet"
    record_count: int
    file_size_bytes: int
    footer_size: int | None = None
    row_id_start: int | None = None
    partition_id: PartitionId | None = None
    encryption_key: str | None = None
    partial_file_info: str | None = None
    mapping_id: MappingId | None = None

    @property
    def content_bytes(self) -> int:
        """Bytes without the footer, which takes most of a small file."""
        return max(0, self.file_size_bytes - (self.footer_size or 0) - _MARKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile(Row):
    """A file that lists deleted positions of one data file."""

    table_id: TableId
    delete_file_id: DeleteFileId
    data_file_id: DataFileId
    path: str
    path_is_relative: bool = True
    format: str = "parquet"
    delete_count: int
    file_size_bytes: int
    footer_size: int | None = None
    encryption_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InlinedDelete(Row):
    """One deleted position of a data file, stored in the metastore instead of a delete file."""

    table_id: TableId
    data_file_id: DataFileId
    row_position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InlinedTable(Row):
    """A table of the metastore that holds the inlined rows of one version of a table's columns."""

    table_id: TableId
    table_name: str
    schema_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InlinedRow(Row):
    """One row that is stored in the metastore: its values by column."""

    table_id: TableId
    row_id: int
    stored_in: str
    values: dict[ColumnId, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics(Row):
    """Live rows and bytes of a table, and the next free row id."""

    table_id: TableId
    record_count: int = 0
    next_row_id: int = 0
    file_size_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics(Row):
    """Bounds that hold for every row of a column. They may be too wide after rows were deleted."""

    table_id: TableId
    column_id: ColumnId
    contains_null: bool | None = None
    contains_nan: bool | None = None
    min_value: str | None = None
    max_value: str | None = None
    extra_stats: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Row):
    """A setting of a catalog, a schema or a table.

    Options of a catalog have the `scope_id` 0, which is never the id of a schema or table. A fork
    therefore inherits them without any translation.
    """

    key: str
    value: str
    scope: str
    scope_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaTable(Row):
    """Registration of a table as a Delta table whose log is stored in the metastore.

    Args:
        delta_id: id of the Delta table.
        location: root folder of the Delta table for readers of files; None if it has none yet.
        mode: `own` if the log in the metastore is authoritative, `follow` if the log files are.
    """

    table_id: TableId
    delta_id: str
    location: str | None
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaVersion(Row):
    """A version of a Delta table, and the snapshot that made it. Such a row never ends."""

    table_id: TableId
    version: int
    timestamp: int  # milliseconds since 1970
    operation: str
    transaction_id: str
    group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaAction(Row):
    """An action in a version of a Delta table that no other row represents, as JSON.

    `key` distinguishes actions of one kind: the application of a txn, the domain of a
    domainMetadata, the id of the data file of a remove, the path of a cdc file, or the position
    in the commit.
    """

    table_id: TableId
    version: int
    kind: str
    key: str
    body: str
