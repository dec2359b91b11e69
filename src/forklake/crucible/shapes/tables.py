"""Models of schemas, tables, columns, views and data files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.crucible.shapes.base import Number, RequestBody, ResponseBody
from forklake.crucible.shapes.types import Type, describe_column_types, to_column_type
from forklake.model import entities
from forklake.model.scans import ScanFile
from forklake.model.state import CatalogState
from forklake.model.types import ColumnSpec

COMMENT = "comment"
Transform = Literal["identity", "year", "month", "day", "hour"]


class Schema(ResponseBody):
    """Schema with the numbers of its tables and views."""

    name: str
    schema_id: int
    uuid: str
    tables: int
    views: int

    @classmethod
    def of(cls, state: CatalogState, row: entities.Schema) -> Schema:
        """Return the model of a schema in a catalog state."""
        return cls(
            name=row.schema_name,
            schema_id=row.schema_id,
            uuid=str(row.schema_uuid),
            tables=len(state.tables(row.schema_name)),
            views=len(state.views(row.schema_name)),
        )


class Schemas(ResponseBody):
    """List of all schemas at a snapshot."""

    snapshot: int
    schemas: list[Schema]


class NewSchema(RequestBody):
    """New schema."""

    name: str
    if_not_exists: bool = False


class NewName(RequestBody):
    """New name."""

    name: str


class PartitionKey(RequestBody):
    """Partition key: a column, or the year, month, day or hour of a column."""

    column: str
    transform: Transform = "identity"


class SortKey(RequestBody):
    """Column that new files are sorted by."""

    column: str
    is_descending: bool = False
    nulls_first: bool = False


class Column(ResponseBody):
    """Column. The fields of a nested column are part of its type."""

    name: str
    column_id: int
    type: Type
    nulls_allowed: bool
    default: str | None
    comment: str | None

    @classmethod
    def of(cls, state: CatalogState, row: entities.Column, type_: Type) -> Column:
        """Return the model of a column in a catalog state."""
        return cls(
            name=row.column_name,
            column_id=row.column_id,
            type=type_,
            nulls_allowed=row.nulls_allowed,
            default=row.default_value,
            comment=state.column_tags(row).get(COMMENT),
        )


class Table(ResponseBody):
    """Table with its columns, row count and size, at a snapshot."""

    name: str
    schema_name: str
    table_id: int
    uuid: str
    snapshot: int
    columns: list[Column]
    partition_by: list[PartitionKey]
    sorted_by: list[SortKey]
    comment: str | None
    rows: int
    size_bytes: int

    @classmethod
    def of(cls, seen: SnapshotReads, row: entities.Table) -> Table:
        """Return the model of a table at a snapshot."""
        state, statistics = seen.state, seen.statistics(row)
        types = describe_column_types(state, row)
        columns = state.columns(row)
        names = {column.column_id: column.column_name for column in columns}
        return cls(
            name=row.table_name,
            schema_name=state.schema_of(row).schema_name,
            table_id=row.table_id,
            uuid=str(row.table_uuid),
            snapshot=seen.snapshot_id,
            columns=[Column.of(state, one, types[one.column_id]) for one in columns],
            partition_by=[
                PartitionKey.model_construct(column=names[key.column_id], transform=key.transform)
                for key in state.partitioning(row)
            ],
            sorted_by=[
                SortKey(
                    column=names[key.column_id],
                    is_descending=key.is_descending,
                    nulls_first=key.nulls_first,
                )
                for key in state.sort_order(row)
            ],
            comment=state.tags(row.table_id).get(COMMENT),
            rows=statistics.record_count,
            size_bytes=statistics.file_size_bytes,
        )


class TableSummary(ResponseBody):
    """Table in a list."""

    name: str
    table_id: int
    uuid: str
    columns: int


class TablePage(ResponseBody):
    """Tables of a schema at a snapshot, by name. To get the next page, pass `next` as `after`."""

    snapshot: int
    tables: list[TableSummary]
    next: str | None


class NewColumn(RequestBody):
    """New column. `default` is the text of a literal value."""

    name: str
    type: Type
    nulls_allowed: bool = True
    default: str | None = None
    comment: str | None = None

    def spec(self) -> ColumnSpec:
        """Return the column specification for the catalog."""
        return ColumnSpec(
            self.name,
            to_column_type(self.type),
            nulls_allowed=self.nulls_allowed,
            default=self.default,
            comment=self.comment,
        )


class NewTable(RequestBody):
    """New table."""

    name: str
    columns: Annotated[list[NewColumn], Field(min_length=1, max_length=10_000)]
    partition_by: tuple[PartitionKey, ...] = ()
    comment: str | None = None
    if_not_exists: bool = False


class ChangeTable(RequestBody):
    """Changes of a table. Omitted fields are not changed; a null `comment` removes the comment."""

    name: str | None = None
    comment: str | None = None
    partition_by: list[PartitionKey] | None = None
    sorted_by: list[SortKey] | None = None


class ChangeColumn(RequestBody):
    """Changes of a column. Omitted fields stay; null removes a `default` or `comment`."""

    name: str | None = None
    type: Type | None = None
    default: str | None = None
    comment: str | None = None
    nulls_allowed: Literal[True] | None = None


class View(ResponseBody):
    """View with its query."""

    name: str
    view_id: int
    uuid: str
    dialect: str
    sql: str
    comment: str | None

    @classmethod
    def of(cls, state: CatalogState, row: entities.View) -> View:
        """Return the model of a view in a catalog state."""
        return cls(
            name=row.view_name,
            view_id=row.view_id,
            uuid=str(row.view_uuid),
            dialect=row.dialect,
            sql=row.sql,
            comment=state.tags(row.view_id).get(COMMENT),
        )


class NewView(RequestBody):
    """New view. `sql` is a single SELECT statement."""

    name: str
    sql: Annotated[str, Field(max_length=1_000_000)]
    or_replace: bool = False
    if_not_exists: bool = False


class Views(ResponseBody):
    """List of all views of a schema at a snapshot."""

    snapshot: int
    views: list[View]


class File(ResponseBody):
    """Data file of a table."""

    data_file_id: int
    path: str
    rows: int
    size_bytes: int
    begin_snapshot: int
    has_deletes: bool

    @classmethod
    def of(cls, found: ScanFile) -> File:
        """Return the model of a file that a scan reads."""
        return cls(
            data_file_id=found.file.data_file_id,
            path=found.path,
            rows=found.file.record_count,
            size_bytes=found.file.file_size_bytes,
            begin_snapshot=found.file.begin_snapshot,
            has_deletes=found.has_deletes,
        )


class FilePage(ResponseBody):
    """Data files of a table ordered by id. To get the next page, pass `next` as `after`."""

    snapshot: int
    files: list[File]
    next: Number | None
