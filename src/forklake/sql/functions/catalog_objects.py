"""Objects of attached catalogs, as the session or its transaction sees them.

Columns of views are found by Spark, which is started only if there are views.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.catalog.transaction import Transaction
from forklake.errors import Forbidden, InvalidInput, NotFound, Unsupported
from forklake.model.duckdb_types import duckdb_type, shown_name
from forklake.model.entities import Schema, Table, View
from forklake.model.fields import Field
from forklake.model.names import PLACEHOLDER
from forklake.model.state import CatalogState
from forklake.session.attachments import Attachment
from forklake.sql.dialect.stored import parse_aliases
from forklake.sql.functions.types import default_text

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.sql.session import Session

_COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class CatalogInfo:
    """Attached catalog."""

    attachment: Attachment
    view: CatalogView

    @property
    def alias(self) -> str:
        """Name under which it is attached."""
        return self.attachment.alias

    @property
    def catalog_id(self) -> int:
        """Id of the catalog."""
        return self.attachment.catalog.catalog_id

    @property
    def state(self) -> CatalogState:
        """State of the catalog that the session sees."""
        return self.view.state

    @property
    def is_read_only(self) -> bool:
        """Whether the catalog cannot be changed through this attachment."""
        return self.attachment.read_only or self.attachment.pinned is not None

    def schemas(self) -> Iterator[SchemaInfo]:
        """Yield its schemas."""
        return (SchemaInfo(self, schema) for schema in self.state.schemas())

    def comment(self, number: int) -> str | None:
        """Return the comment on the schema, table or view with this id."""
        return self.state.tags(number).get(_COMMENT)

    def tags(self, number: int) -> dict[str, str]:
        """Return the tags of an object, except its comment."""
        tags = self.state.tags(number)
        return {key: value for key, value in tags.items() if key != _COMMENT}


@dataclass(frozen=True, slots=True)
class SchemaInfo:
    """Schema of an attached catalog."""

    catalog: CatalogInfo
    row: Schema

    @property
    def name(self) -> str:
        """Name of the schema."""
        return self.row.schema_name

    def tables(self) -> Iterator[TableInfo]:
        """Yield its tables."""
        rows = self.catalog.state.tables(self.name)
        return (TableInfo(self.catalog, self, row.table_name, row.table_id, row) for row in rows)

    def views(self) -> Iterator[ViewInfo]:
        """Yield its views."""
        rows = self.catalog.state.views(self.name)
        return (ViewInfo(self.catalog, self, row.view_name, row.view_id, row) for row in rows)

    def relations(self) -> Iterator[TableInfo | ViewInfo]:
        """Yield its tables, then its views."""
        yield from self.tables()
        yield from self.views()


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """Table or view of an attached catalog."""

    catalog: CatalogInfo
    schema: SchemaInfo
    name: str
    number: int

    @property
    def comment(self) -> str | None:
        """Comment on the table or view."""
        return self.catalog.comment(self.number)

    @property
    def tags(self) -> dict[str, str]:
        """Tags of the table or view, except its comment."""
        return self.catalog.tags(self.number)


@dataclass(frozen=True, slots=True)
class ViewInfo(RelationInfo):
    """View of an attached catalog."""

    row: View

    @property
    def definition(self) -> str:
        """CREATE VIEW statement of the view, with the current alias of its catalog."""
        query = self.row.sql.replace(PLACEHOLDER, shown_name(self.catalog.alias))
        columns = ", ".join(map(shown_name, parse_aliases(self.row.column_aliases)))
        name = f"{shown_name(self.name)}({columns})" if columns else shown_name(self.name)
        return f"CREATE VIEW {name} AS {query};"

    def columns(self, session: Session) -> Iterator[ColumnInfo]:
        """Yield its columns, numbered from 1; none if it cannot be read (its table was dropped)."""
        from forklake.engines.spark.query_types import query_type
        from forklake.sql.query.binding import analyze_schema

        parts = (self.catalog.alias, self.schema.name, self.name)
        catalog, schema, name = (exp.to_identifier(part, quoted=True) for part in parts)
        query = exp.select("*").from_(exp.Table(this=name, db=schema, catalog=catalog))
        try:
            schema_of_view = analyze_schema(session, query)
        except (NotFound, InvalidInput, Unsupported, Forbidden):
            return
        for number, field in enumerate(schema_of_view.fields, 1):
            yield ColumnInfo(self, number, field.name, query_type(field), True, None, None)


@dataclass(frozen=True, slots=True)
class TableInfo(RelationInfo):
    """Table of an attached catalog."""

    row: Table

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns with their nested fields."""
        return self.catalog.state.fields(self.row)

    @property
    def record_count(self) -> int:
        """Number of committed rows."""
        view = self.catalog.view
        if isinstance(view, Transaction):
            view.record_read(self.row)
            view = view.committed_view()
        return view.statistics(self.row).record_count

    @property
    def data_path(self) -> str:
        """Folder of new data files."""
        attachment = self.catalog.attachment
        return attachment.located(attachment.folder(self.catalog.state, self.row))

    def columns(self, session: Session) -> Iterator[ColumnInfo]:
        """Yield its columns, numbered from 1."""
        state = self.catalog.state
        for number, field in enumerate(self.fields, 1):
            tags = state.column_tags(state.column(self.row, field.name))
            yield ColumnInfo(
                self,
                number,
                field.name,
                duckdb_type(field),
                field.nulls_allowed,
                default_text(field),
                tags.get(_COMMENT),
            )


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """Column of a table or view, with its type and default in DuckDB SQL."""

    table: TableInfo | ViewInfo
    number: int
    name: str
    data_type: str
    nulls_allowed: bool
    default: str | None
    comment: str | None


# Lists of all objects of one kind


def get_catalog_info(session: Session, alias: str) -> CatalogInfo:
    """Return the catalog that is attached under an alias."""
    attachment = session.attachment(alias)
    return CatalogInfo(attachment, session.viewing(attachment))


def all_catalogs(session: Session) -> Iterator[CatalogInfo]:
    """Yield all attached catalogs."""
    return (get_catalog_info(session, attachment.alias) for attachment in session.attachments())


def all_schemas(session: Session) -> Iterator[SchemaInfo]:
    """Yield all schemas of attached catalogs."""
    return (schema for catalog in all_catalogs(session) for schema in catalog.schemas())


def all_tables(session: Session) -> Iterator[TableInfo]:
    """Yield all tables of attached catalogs."""
    return (table for schema in all_schemas(session) for table in schema.tables())


def all_views(session: Session) -> Iterator[ViewInfo]:
    """Yield all views of attached catalogs."""
    return (view for schema in all_schemas(session) for view in schema.views())


def all_relations(session: Session) -> Iterator[TableInfo | ViewInfo]:
    """Yield all tables and views of attached catalogs."""
    return (relation for schema in all_schemas(session) for relation in schema.relations())


def all_columns(session: Session) -> Iterator[ColumnInfo]:
    """Yield all columns of tables and views of attached catalogs."""
    return (column for relation in all_relations(session) for column in relation.columns(session))
