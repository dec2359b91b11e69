"""What there is in attached catalogs, as the session sees them, in its transaction.

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
from forklake.spark.attachments import Attachment
from forklake.sql.dialect.stored import aliases_of
from forklake.sql.functions.types import query_type, shown_default

if TYPE_CHECKING:
    from forklake.spark import naming
    from forklake.sql.session import Session

_COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class SeenCatalog:
    """An attached catalog."""

    attachment: Attachment
    view: naming.View

    @property
    def alias(self) -> str:
        """The name under which it is attached."""
        return self.attachment.alias

    @property
    def catalog_id(self) -> int:
        """Its number."""
        return self.attachment.catalog.catalog_id

    @property
    def state(self) -> CatalogState:
        """Its definitions."""
        return self.view.state

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed through this attachment."""
        return self.attachment.read_only or self.attachment.pinned is not None

    def schemas(self) -> Iterator[SeenSchema]:
        """Its schemas."""
        return (SeenSchema(self, schema) for schema in self.state.schemas())

    def comment(self, number: int) -> str | None:
        """The comment on a schema, table or view."""
        return self.state.tags(number).get(_COMMENT)

    def tags(self, number: int) -> dict[str, str]:
        """The other tags."""
        found = self.state.tags(number)
        return {key: value for key, value in found.items() if key != _COMMENT}


@dataclass(frozen=True, slots=True)
class SeenSchema:
    """A schema of an attached catalog."""

    catalog: SeenCatalog
    row: Schema

    @property
    def name(self) -> str:
        """Its name."""
        return self.row.schema_name

    def tables(self) -> Iterator[SeenTable]:
        """Its tables."""
        found = self.catalog.state.tables(self.name)
        return (SeenTable(self.catalog, self, row.table_name, row.table_id, row) for row in found)

    def views(self) -> Iterator[SeenView]:
        """Its views."""
        found = self.catalog.state.views(self.name)
        return (SeenView(self.catalog, self, row.view_name, row.view_id, row) for row in found)

    def relations(self) -> Iterator[SeenTable | SeenView]:
        """Both."""
        yield from self.tables()
        yield from self.views()


@dataclass(frozen=True, slots=True)
class SeenRelation:
    """A table or view."""

    catalog: SeenCatalog
    schema: SeenSchema
    name: str
    number: int

    @property
    def comment(self) -> str | None:
        """The comment on it."""
        return self.catalog.comment(self.number)

    @property
    def tags(self) -> dict[str, str]:
        """Its other tags."""
        return self.catalog.tags(self.number)


@dataclass(frozen=True, slots=True)
class SeenView(SeenRelation):
    """A view."""

    row: View

    @property
    def definition(self) -> str:
        """The statement that makes it, for the alias under which the catalog is attached now."""
        query = self.row.sql.replace(PLACEHOLDER, shown_name(self.catalog.alias))
        columns = ", ".join(map(shown_name, aliases_of(self.row.column_aliases)))
        declared = f"{shown_name(self.name)}({columns})" if columns else shown_name(self.name)
        return f"CREATE VIEW {declared} AS {query};"

    def columns(self, session: Session) -> Iterator[SeenColumn]:
        """Its columns, numbered from 1; none if it cannot be read, as when its table is gone."""
        from forklake.sql.query.binding import schema_of

        parts = (self.catalog.alias, self.schema.name, self.name)
        catalog, schema, name = (exp.to_identifier(part, quoted=True) for part in parts)
        query = exp.select("*").from_(exp.Table(this=name, db=schema, catalog=catalog))
        try:
            found = schema_of(session, query)
        except (NotFound, InvalidInput, Unsupported, Forbidden):
            return
        for number, field in enumerate(found.fields, 1):
            yield SeenColumn(self, number, field.name, query_type(field), True, None, None)


@dataclass(frozen=True, slots=True)
class SeenTable(SeenRelation):
    """A table."""

    row: Table

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns as trees."""
        return self.catalog.state.fields(self.row)

    @property
    def record_count(self) -> int:
        """How many rows were committed to it."""
        view = self.catalog.view
        if isinstance(view, Transaction):
            view.record_read(self.row)
            view = view.committed_view()
        return view.statistics(self.row).record_count

    @property
    def data_path(self) -> str:
        """The folder of its new files."""
        attachment = self.catalog.attachment
        return attachment.located(attachment.folder(self.catalog.state, self.row))

    def columns(self, session: Session) -> Iterator[SeenColumn]:
        """Its columns, numbered from 1."""
        state = self.catalog.state
        for number, field in enumerate(self.fields, 1):
            tags = state.column_tags(state.column(self.row, field.name))
            yield SeenColumn(
                self,
                number,
                field.name,
                duckdb_type(field),
                field.nulls_allowed,
                shown_default(field),
                tags.get(_COMMENT),
            )


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """A column of a table or view: its place, and its type and default as DuckDB writes them."""

    table: SeenTable | SeenView
    number: int
    name: str
    data_type: str
    nulls_allowed: bool
    default: str | None
    comment: str | None


# All of a kind


def seen_catalog(session: Session, alias: str) -> SeenCatalog:
    """The catalog attached under an alias."""
    attachment = session.attachment(alias)
    return SeenCatalog(attachment, session.viewing(attachment))


def all_catalogs(session: Session) -> Iterator[SeenCatalog]:
    """All attached catalogs."""
    return (seen_catalog(session, one.alias) for one in session.attachments())


def all_schemas(session: Session) -> Iterator[SeenSchema]:
    """All schemas of attached catalogs."""
    return (schema for catalog in all_catalogs(session) for schema in catalog.schemas())


def all_tables(session: Session) -> Iterator[SeenTable]:
    """All tables of attached catalogs."""
    return (table for schema in all_schemas(session) for table in schema.tables())


def all_views(session: Session) -> Iterator[SeenView]:
    """All views of attached catalogs."""
    return (view for schema in all_schemas(session) for view in schema.views())


def all_relations(session: Session) -> Iterator[SeenTable | SeenView]:
    """All tables and views of attached catalogs."""
    return (one for schema in all_schemas(session) for one in schema.relations())


def all_columns(session: Session) -> Iterator[SeenColumn]:
    """All columns of tables and views of attached catalogs."""
    return (column for one in all_relations(session) for column in one.columns(session))
