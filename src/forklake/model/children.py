"""Immutable rows of a parent with a global id: stored once, and shared by all catalogs.

A fork finds them by the id of the parent alone; `catalog_id` only records the writer.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from forklake.model.files import MappedName
from forklake.model.ids import (
    NO_CATALOG,
    CatalogId,
    ColumnId,
    DataFileId,
    DeleteFileId,
    MacroId,
    MappingId,
    PartitionId,
    TableId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """Fields common to all such rows: the writer, the metadata table, and the parent column."""

    NAME: ClassVar[str]
    PARENT: ClassVar[str]
    catalog_id: CatalogId = NO_CATALOG

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names of the columns that are read and written."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionColumn(Child):
    """One key of a partitioning: a column and a transform (identity, year, month, day, hour)."""

    NAME: ClassVar[str] = "ducklake_partition_column"
    PARENT: ClassVar[str] = "partition_id"
    partition_id: PartitionId
    table_id: TableId
    partition_key_index: int
    column_id: ColumnId
    transform: str = "identity"


# Types of mappings. Columns that are missing in the files get their values from the names of
# folders, or from the partition values that are stored for each file.
BY_NAME, BY_STORED_VALUES = "map_by_name", "map_by_stored_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping(Child):
    """Mapping of columns in files from other writers to columns of a table.

    It is kept as long as the table, since more files with the same columns may be added.
    `is_owned`: the table owns the files and may delete them.
    """

    NAME: ClassVar[str] = "ducklake_column_mapping"
    PARENT: ClassVar[str] = "mapping_id"
    mapping_id: MappingId
    table_id: TableId
    type: str = BY_NAME
    is_owned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMapping(Child):
    """A name in files from another writer, and the column that it maps to.

    With `is_partition` the name is a key in folder names. `source_type` is set if the column has to
    be read with that type and then cast to the type of the table.
    """

    NAME: ClassVar[str] = "ducklake_name_mapping"
    PARENT: ClassVar[str] = "mapping_id"
    mapping_id: MappingId
    column_id: int
    source_name: str
    target_field_id: ColumnId
    parent_column: int | None = None
    is_partition: bool = False
    source_type: str | None = None

    @classmethod
    def of(cls, mapping_id: MappingId, position: int, name: MappedName) -> NameMapping:
        """Return the row of a name, given its position in the mapping."""
        return cls(
            mapping_id=mapping_id,
            column_id=position,
            source_name=name.source_name,
            target_field_id=name.column_id,
            parent_column=name.parent,
            is_partition=name.is_partition,
            source_type=name.source_type,
        )

    @property
    def mapped_name(self) -> MappedName:
        """The name without its position."""
        return MappedName(
            self.source_name,
            self.target_field_id,
            self.is_partition,
            self.source_type,
            self.parent_column,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroImplementation(Child):
    """One overload of a macro."""

    NAME: ClassVar[str] = "ducklake_macro_impl"
    PARENT: ClassVar[str] = "macro_id"
    macro_id: MacroId
    impl_id: int
    dialect: str
    sql: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroParameter(Child):
    """One parameter of an overload."""

    NAME: ClassVar[str] = "ducklake_macro_parameters"
    PARENT: ClassVar[str] = "macro_id"
    macro_id: MacroId
    impl_id: int
    column_id: int
    parameter_name: str
    parameter_type: str = "unknown"
    default_value: str | None = None
    default_value_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileColumnStatistics(Child):
    """Statistics of one column from the footer of a data file."""

    NAME: ClassVar[str] = "ducklake_file_column_stats"
    PARENT: ClassVar[str] = "data_file_id"
    data_file_id: DataFileId
    table_id: TableId
    column_id: ColumnId
    column_size_bytes: int | None = None
    value_count: int | None = None
    null_count: int | None = None
    min_value: str | None = None
    max_value: str | None = None
    contains_nan: bool | None = None
    extra_stats: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePartitionValue(Child):
    """The value that all rows of a data file share for one key of its partitioning."""

    NAME: ClassVar[str] = "ducklake_file_partition_value"
    PARENT: ClassVar[str] = "data_file_id"
    data_file_id: DataFileId
    table_id: TableId
    partition_key_index: int
    partition_value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAction(Child):
    """The original add action of a data file in a Delta log, as JSON.

    If the action has a deletion vector, `delete_file_id` is the delete file made from it.
    """

    NAME: ClassVar[str] = "dl_file_actions"
    PARENT: ClassVar[str] = "data_file_id"
    data_file_id: DataFileId
    table_id: TableId
    delete_file_id: DeleteFileId | None = None
    body: str


CHILDREN: tuple[type[Child], ...] = (
    PartitionColumn,
    ColumnMapping,
    NameMapping,
    MacroImplementation,
    MacroParameter,
    FileColumnStatistics,
    FilePartitionValue,
    FileAction,
)
