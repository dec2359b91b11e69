"""Tables and functions that describe attached catalogs: `information_schema.*`, `duckdb_*()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from forklake.errors import NotFound
from forklake.model.names import folded
from forklake.session.names import perhaps
from forklake.sql.functions import catalog_objects
from forklake.sql.functions.types import create_table_text, decimal_digits

if TYPE_CHECKING:
    from forklake.sql.session import Session

ListItems: TypeAlias = "Callable[[Session], Iterator[Any]]"
# Type of each column, and how its value is read off an item: attribute path or function.
ColumnValues: TypeAlias = Mapping[str, tuple[pa.DataType, str | Callable[[Any], Any]]]

_SCHEMA = "information_schema"
_TEXT, _LONG, _INT, _BOOL = pa.string(), pa.int64(), pa.int32(), pa.bool_()
_TAGS = pa.map_(_TEXT, _TEXT)


@dataclass(frozen=True, slots=True)
class InformationTable:
    """Table of information: the items that it lists, and its columns."""

    list_items: ListItems
    columns: ColumnValues

    def read(self, session: Session, *, has_rows: bool = True) -> pa.Table:
        """Return all rows, or only the columns."""
        items = list(self.list_items(session)) if has_rows else []
        if has_rows:
            session.record_definitions()
        return pa.table(
            {
                name: pa.array([_build_getter(get)(one) for one in items], kind)
                for name, (kind, get) in self.columns.items()
            }
        )


def _build_getter(get: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    return attrgetter(get) if isinstance(get, str) else get


def find_information_table(
    session: Session, parts: Sequence[str], *, has_rows: bool = True
) -> pa.Table | None:
    """Return a table of `information_schema` of any catalog; None if the name is not one.

    Without `has_rows` only its columns are returned. This is required while the columns of a view
    are searched: rows of `columns` would bind all views again.
    """
    *where, name = map(folded, parts)
    if not where or where[-1] != _SCHEMA or len(where) > 2:
        return None
    if len(where) == 2:
        session.attachment(parts[0])
    table = _SCHEMA_TABLES.get(name)
    if table is None:
        raise NotFound(
            f"Table '{'.'.join(parts)}' does not exist",
            remedy=perhaps(name, _SCHEMA_TABLES, what=f"tables of '{_SCHEMA}'"),
        )
    return table.read(session, has_rows=has_rows)


def call_information_function(
    session: Session, parts: Sequence[str], *, has_rows: bool = True
) -> pa.Table | None:
    """Return the rows of `duckdb_tables()` and similar functions; None for other functions."""
    table = _FUNCTIONS.get(folded(parts[0])) if len(parts) == 1 else None
    return table.read(session, has_rows=has_rows) if table else None


# Values of columns


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda item: value


def _is_table(relation: catalog_objects.TableInfo | catalog_objects.ViewInfo) -> bool:
    return isinstance(relation, catalog_objects.TableInfo)


def _yes_or_no(condition: bool) -> str:
    return "YES" if condition else "NO"


def _tags_of_table(table: catalog_objects.TableInfo) -> list[tuple[str, str]]:
    return list((table.tags | {"data_path": table.data_path}).items())


def _tags_of_catalog(catalog: catalog_objects.CatalogInfo) -> list[tuple[str, str]]:
    return [
        ("catalog", catalog.attachment.catalog.name),
        ("data_path", catalog.attachment.data_path),
    ]


def _is_encrypted(catalog: catalog_objects.CatalogInfo) -> bool:
    return catalog.attachment.option(catalog.state, "encrypted") == "true"


def _radix(column: catalog_objects.ColumnInfo) -> int | None:
    return 10 if decimal_digits(column.data_type)[0] is not None else None


_NUMERIC_COLUMNS: ColumnValues = {
    "numeric_precision": (_INT, lambda one: decimal_digits(one.data_type)[0]),
    "numeric_precision_radix": (_INT, _radix),
    "numeric_scale": (_INT, lambda one: decimal_digits(one.data_type)[1]),
}
_RELATION_COLUMNS: ColumnValues = {
    "table_catalog": (_TEXT, "catalog.alias"),
    "table_schema": (_TEXT, "schema.name"),
    "table_name": (_TEXT, "name"),
}
_SCHEMA_COLUMNS: ColumnValues = {
    "database_name": (_TEXT, "catalog.alias"),
    "database_oid": (_LONG, "catalog.catalog_id"),
    "schema_name": (_TEXT, "schema.name"),
    "schema_oid": (_LONG, "schema.row.schema_id"),
}
_SCHEMA_TABLES = {
    "schemata": InformationTable(
        catalog_objects.all_schemas,
        {
            "catalog_name": (_TEXT, "catalog.alias"),
            "schema_name": (_TEXT, "name"),
            "schema_owner": (_TEXT, _constant("duckdb")),
        },
    ),
    "tables": InformationTable(
        catalog_objects.all_relations,
        {
            **_RELATION_COLUMNS,
            "table_type": (_TEXT, lambda one: "BASE TABLE" if _is_table(one) else "VIEW"),
            "is_insertable_into": (_TEXT, lambda one: _yes_or_no(_is_table(one))),
            "is_typed": (_TEXT, _constant("NO")),
            "TABLE_COMMENT": (_TEXT, "comment"),
        },
    ),
    "columns": InformationTable(
        catalog_objects.all_columns,
        {
            "table_catalog": (_TEXT, "table.catalog.alias"),
            "table_schema": (_TEXT, "table.schema.name"),
            "table_name": (_TEXT, "table.name"),
            "column_name": (_TEXT, "name"),
            "ordinal_position": (_INT, "number"),
            "column_default": (_TEXT, "default"),
            "is_nullable": (_TEXT, lambda one: _yes_or_no(one.nulls_allowed)),
            "data_type": (_TEXT, "data_type"),
            **_NUMERIC_COLUMNS,
            "COLUMN_COMMENT": (_TEXT, "comment"),
        },
    ),
    "views": InformationTable(
        catalog_objects.all_views,
        {
            **_RELATION_COLUMNS,
            "view_definition": (_TEXT, "definition"),
            "check_option": (_TEXT, _constant("NONE")),
            "is_updatable": (_TEXT, _constant("NO")),
            "is_insertable_into": (_TEXT, _constant("NO")),
        },
    ),
}
_FUNCTIONS = {
    "duckdb_databases": InformationTable(
        catalog_objects.all_catalogs,
        {
            "database_name": (_TEXT, "alias"),
            "database_oid": (_LONG, "catalog_id"),
            "path": (_TEXT, "attachment.address"),
            "comment": (_TEXT, _constant(None)),
            "tags": (_TAGS, _tags_of_catalog),
            "internal": (_BOOL, _constant(False)),
            "type": (_TEXT, _constant("ducklake")),
            "readonly": (_BOOL, "is_read_only"),
            "encrypted": (_BOOL, _is_encrypted),
        },
    ),
    "duckdb_schemas": InformationTable(
        catalog_objects.all_schemas,
        {
            "oid": (_LONG, "row.schema_id"),
            "database_name": (_TEXT, "catalog.alias"),
            "database_oid": (_LONG, "catalog.catalog_id"),
            "schema_name": (_TEXT, "name"),
            "comment": (_TEXT, lambda one: one.catalog.comment(one.row.schema_id)),
            "tags": (_TAGS, lambda one: list(one.catalog.tags(one.row.schema_id).items())),
            "internal": (_BOOL, _constant(False)),
            "sql": (_TEXT, _constant(None)),
        },
    ),
    "duckdb_tables": InformationTable(
        catalog_objects.all_tables,
        {
            **_SCHEMA_COLUMNS,
            "table_name": (_TEXT, "name"),
            "table_oid": (_LONG, "number"),
            "comment": (_TEXT, "comment"),
            "tags": (_TAGS, _tags_of_table),
            "internal": (_BOOL, _constant(False)),
            "temporary": (_BOOL, _constant(False)),
            "has_primary_key": (_BOOL, _constant(False)),
            "estimated_size": (_LONG, "record_count"),
            "column_count": (_LONG, lambda one: len(one.fields)),
            "index_count": (_LONG, _constant(0)),
            "check_constraint_count": (_LONG, _constant(0)),
            "sql": (_TEXT, lambda one: create_table_text(one.name, one.fields)),
        },
    ),
    "duckdb_columns": InformationTable(
        catalog_objects.all_columns,
        {
            "database_name": (_TEXT, "table.catalog.alias"),
            "database_oid": (_LONG, "table.catalog.catalog_id"),
            "schema_name": (_TEXT, "table.schema.name"),
            "schema_oid": (_LONG, "table.schema.row.schema_id"),
            "table_name": (_TEXT, "table.name"),
            "table_oid": (_LONG, "table.number"),
            "column_name": (_TEXT, "name"),
            "column_index": (_INT, "number"),
            "comment": (_TEXT, "comment"),
            "internal": (_BOOL, _constant(False)),
            "column_default": (_TEXT, "default"),
            "is_nullable": (_BOOL, "nulls_allowed"),
            "data_type": (_TEXT, "data_type"),
            **_NUMERIC_COLUMNS,
        },
    ),
    "duckdb_views": InformationTable(
        catalog_objects.all_views,
        {
            **_SCHEMA_COLUMNS,
            "view_name": (_TEXT, "name"),
            "view_oid": (_LONG, "number"),
            "comment": (_TEXT, "comment"),
            "tags": (_TAGS, lambda one: list(one.tags.items())),
            "internal": (_BOOL, _constant(False)),
            "temporary": (_BOOL, _constant(False)),
            "sql": (_TEXT, "definition"),
        },
    ),
}
