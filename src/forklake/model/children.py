"""Rows that never change and belong to a numbered parent: stored once, whoever reads them.

A fork finds them by the parent's id alone; `catalog_id` only remembers who wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from forklake.model.files import MappedName
from forklake.model.ids import (
    NOBODY,
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
    """What every such row knows: its writer, its table in the metadata database, its parent."""

    NAME: ClassVar[str]
    PARENT: ClassVar[str]
    catalog_id: CatalogId = NOBODY

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The columns that are read and written."""
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


# Types of mappings: names of folders tell the values of columns that are not in the files, or the
# partition values that are stored for each file.
BY_NAME, BY_STORED_VALUES = "map_by_name", "map_by_stored_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping(Child):
    """How columns of files that others wrote are found; `is_owned` if the files were handed over.

    It stays as long as its table: more files may come that look the same.
    """

    NAME: ClassVar[str] = "ducklake_column_mapping"
    PARENT: ClassVar[str] = "mapping_id"
    mapping_id: MappingId
    table_id: TableId
    type: str = BY_NAME
    is_owned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMapping(Child):
    """A name in a foreign file and the column it stands for.

    With `is_partition` it is a key in the names of folders. `source_type` is the type in the file
    where it has to be read as that, then turned into the column's.
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
        """The row of a name, at its place among those of the mapping."""
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
        """The name, without its place."""
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
    """What a data file's footer says about one column."""

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
    """The add action with which a Delta log told of a data file, word for word.

    With a deletion vector it is about the file as of that vector, which became a delete file.
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
