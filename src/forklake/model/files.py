"""Files and rows as a transaction hands them over, before they have their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forklake.model.ids import ColumnId, DataFileId, MappingId, PartitionId

# Columns that some files have besides those of the table: the ids of rows that are new versions of
# others, and the snapshots of rows that were put together from several files.
ROW_ID, SNAPSHOT_ID = "_ducklake_internal_row_id", "_ducklake_internal_snapshot_id"
# Their field ids.
LINEAGE = {ROW_ID: 2147483540, SNAPSHOT_ID: 2147483539}
# The format of a delete file that is a deletion vector which could not be read.
UNREAD_VECTOR = "deletion-vector"


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What a new file says about one column; bounds are text in the form of the column's type."""

    column_id: ColumnId
    column_size_bytes: int | None = None
    value_count: int | None = None
    null_count: int | None = None
    min_value: str | None = None
    max_value: str | None = None
    contains_nan: bool | None = None
    extra_stats: str | None = None

    @classmethod
    def of_constant(
        cls, column_id: ColumnId, text: str | None, rows: int, *, contains_nan: bool | None
    ) -> ColumnBounds:
        """What is known of a column that has the same value in all rows of a file."""
        return cls(
            column_id,
            value_count=rows,
            null_count=rows if text is None else 0,
            min_value=text,
            max_value=text,
            contains_nan=contains_nan,
        )


@dataclass(frozen=True, slots=True)
class NewDataFile:
    """A data file to add. `row_ids` False: its rows carry the ids that they had before.

    With `row_id_offset` they have those that begin so far into the ones that were set aside.
    """

    path: str
    record_count: int
    file_size_bytes: int
    footer_size: int | None = None
    path_is_relative: bool = True
    file_format: str = "parquet"
    bounds: tuple[ColumnBounds, ...] = ()
    partition_id: PartitionId | None = None
    partition_values: tuple[str | None, ...] = ()
    encryption_key: str | None = None
    partial_file_info: str | None = None
    mapping_id: MappingId | None = None
    row_ids: bool = True
    row_id_offset: int | None = None
    action: str | None = None  # of a Delta log


class MappedName(NamedTuple):
    """A name in files that others wrote, and the column that it stands for.

    `parent` is the place, among the names of the mapping, of the name that it is inside of.
    """

    source_name: str
    column_id: ColumnId
    is_partition: bool = False
    source_type: str | None = None
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class NewDeleteFile:
    """A delete file to add; it replaces the one that its data file had."""

    data_file_id: DataFileId
    path: str
    delete_count: int
    file_size_bytes: int
    footer_size: int | None = None
    path_is_relative: bool = True
    format: str = "parquet"
    encryption_key: str | None = None
    action: str | None = None  # of a Delta log, about the data file


@dataclass(frozen=True, slots=True)
class NewInlinedRow:
    """A row to keep in the metastore; `row_id` is set when it is a new version of one,
    `row_id_offset` when its id is among those that were set aside."""

    values: dict[ColumnId, Any] = field(default_factory=dict)
    row_id: int | None = None
    row_id_offset: int | None = None
