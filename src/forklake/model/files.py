"""Files and rows that a transaction adds, before they get ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forklake.model.ids import ColumnId, DataFileId, MappingId, PartitionId

# Additional columns in some files: the ids of rows that are new versions of other rows, and the
# snapshots of rows that were merged from several files.
ROW_ID, SNAPSHOT_ID = "_ducklake_internal_row_id", "_ducklake_internal_snapshot_id"
# Field ids of these columns.
LINEAGE = {ROW_ID: 2147483540, SNAPSHOT_ID: 2147483539}
# Format of a delete file that stands for a deletion vector which could not be read.
UNREAD_VECTOR = "deletion-vector"


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """Statistics of one column in a new file; bounds are texts in the form of the column type."""

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
        """Return the statistics of a column with the same value in all rows of a file."""
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
    """A data file to add.

    Args:
        row_ids: False if its rows carry the ids that they had before.
        row_id_offset: offset of its first row id within the ids reserved for rows of a merge.
        action: the original add action of a Delta log.
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
    action: str | None = None


class MappedName(NamedTuple):
    """A name in files from another writer, and the column that it maps to.

    `parent` is the position, among the names of the mapping, of the name that contains it.
    """

    source_name: str
    column_id: ColumnId
    is_partition: bool = False
    source_type: str | None = None
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class NewDeleteFile:
    """A delete file to add; it replaces the current delete file of its data file."""

    data_file_id: DataFileId
    path: str
    delete_count: int
    file_size_bytes: int
    footer_size: int | None = None
    path_is_relative: bool = True
    format: str = "parquet"
    encryption_key: str | None = None
    action: str | None = None  # original add action of a Delta log, for the data file


@dataclass(frozen=True, slots=True)
class NewInlinedRow:
    """A row to store in the metastore.

    Args:
        row_id: id of the row that this is a new version of; None for a new row.
        row_id_offset: offset of its id within the ids reserved for rows of a merge.
    """

    values: dict[ColumnId, Any] = field(default_factory=dict)
    row_id: int | None = None
    row_id_offset: int | None = None
