"""SHOW: lists of the objects in attached catalogs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from forklake.errors import InvalidInput, NotFound
from forklake.model.duckdb_types import duckdb_type
from forklake.model.names import folded
from forklake.session.names import perhaps
from forklake.sql.dialect.nodes import name_parts
from forklake.sql.dialect.stored import parse_aliases
from forklake.sql.functions.catalog_objects import (
    SchemaInfo,
    TableInfo,
    ViewInfo,
    all_catalogs,
    all_relations,
    all_schemas,
    get_catalog_info,
)
from forklake.sql.functions.registry import FUNCTIONS, PREFIX, QualifiedFunction
from forklake.sql.results import Result
from forklake.sql.statements.describe import describe_columns

if TYPE_CHECKING:
    from forklake.sql.session import Session

ShowFunction: TypeAlias = "Callable[[Session, exp.Expression | None], pa.Table]"

_TEXT, _TEXTS, _BOOL = pa.string(), pa.list_(pa.string()), pa.bool_()


def run_show(session: Session, statement: exp.Expression) -> Result:
    """Run SHOW: list the objects of one kind."""
    kind = str(statement.this)
    if kind not in _SHOW_FUNCTIONS:
        raise InvalidInput(
            f"SHOW {kind} is not supported.",
            remedy="Write SHOW " + ", ".join(_SHOW_FUNCTIONS) + ".",
        )
    rows = _SHOW_FUNCTIONS[kind](session, statement.args.get("from_"))
    session.record_definitions()
    like = statement.args.get("like")
    return Result("SHOW", rows if like is None else _filter_by_name(rows, like.name))


def _filter_by_name(rows: pa.Table, pattern: str) -> pa.Table:
    """Return the rows whose name matches a LIKE pattern."""
    column = next((one for one in ("schema_name", "name") if one in rows.schema.names), 0)
    regex = _like_regex(pattern)
    return rows.filter([bool(regex.fullmatch(value)) for value in rows.column(column).to_pylist()])


def _like_regex(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a LIKE pattern, which takes at most quadratic time.

    The text between two `%` is matched at its first occurrence only (`(?>…)`). A later one is
    never better, and trying all of them takes exponential time.
    """
    first, *others = (
        "".join("." if one == "_" else re.escape(one) for one in part)
        for part in pattern.split("%")
    )
    text = first + "".join(f"(?>.*?{one})" for one in others[:-1])
    return re.compile(text + "".join(f".*{one}" for one in others[-1:]), re.DOTALL)


# FROM clause


def _resolve_schemas(session: Session, scope: exp.Expression | None) -> list[SchemaInfo]:
    """Return the schema that FROM names, all of the catalog that it names, or the current one."""
    match name_parts(scope):
        case () if session.current is None:
            raise NotFound(
                "No catalog is current.",
                remedy="Run USE lake first, or name the catalog: SHOW … FROM lake.",
            )
        case ():
            assert session.current is not None
            return [_find_schema(session, *session.current)]
        case (alias,) if _is_alias(session, alias):
            return list(get_catalog_info(session, alias).schemas())
        case (schema,) if session.current is not None:
            return [_find_schema(session, session.current[0], schema)]
        case (alias,):
            return list(get_catalog_info(session, alias).schemas())
        case (alias, schema):
            return [_find_schema(session, alias, schema)]
    raise InvalidInput(
        "The name after FROM has more than two parts.", remedy="Write FROM catalog.schema."
    )


def _is_alias(session: Session, name: str) -> bool:
    return folded(name) in {folded(one.alias) for one in session.attachments()}


def _find_schema(session: Session, alias: str, schema: str) -> SchemaInfo:
    catalog = get_catalog_info(session, alias)
    row = catalog.state.find_schema(schema)
    if row is None:
        names = [one.name for one in catalog.schemas()]
        raise NotFound(
            f"Schema '{alias}.{schema}' does not exist",
            remedy=perhaps(schema, names, what=f"schemas of '{alias}'"),
        )
    return SchemaInfo(catalog, row)


def _list_schemas(session: Session, scope: exp.Expression | None) -> Iterator[SchemaInfo]:
    """Return the schemas of one catalog, or of all attached ones."""
    match name_parts(scope):
        case ():
            return all_schemas(session)
        case (alias,):
            return get_catalog_info(session, alias).schemas()
    raise InvalidInput(
        "SHOW SCHEMAS expects the name of a catalog.", remedy="Write SHOW SCHEMAS FROM lake."
    )


# Kinds of objects


def _build_table(columns: dict[str, pa.DataType], rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    schema = pa.schema(list(columns.items()))
    return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)


def _build_name_table(found_names: Iterable[str]) -> pa.Table:
    return _build_table({"name": _TEXT}, ((name,) for name in sorted(found_names)))


def _show_tables(session: Session, scope: exp.Expression | None) -> pa.Table:
    schemas = _resolve_schemas(session, scope)
    return _build_name_table(one.name for schema in schemas for one in schema.relations())


def _show_views(session: Session, scope: exp.Expression | None) -> pa.Table:
    return _build_name_table(
        one.name for schema in _resolve_schemas(session, scope) for one in schema.views()
    )


def _show_all_tables(session: Session, scope: exp.Expression | None) -> pa.Table:
    columns = {
        "database": _TEXT,
        "schema": _TEXT,
        "name": _TEXT,
        "column_names": _TEXTS,
        "column_types": _TEXTS,
        "temporary": _BOOL,
    }
    return _build_table(columns, map(_relation_row, all_relations(session)))


def _relation_row(relation: TableInfo | ViewInfo) -> tuple[Any, ...]:
    if isinstance(relation, TableInfo):
        columns = (
            [field.name for field in relation.fields],
            [duckdb_type(field) for field in relation.fields],
        )
    else:
        columns = parse_aliases(relation.row.column_aliases), []
    return relation.catalog.alias, relation.schema.name, relation.name, *columns, False


def _show_databases(session: Session, scope: exp.Expression | None) -> pa.Table:
    aliases = sorted(one.alias for one in all_catalogs(session))
    return _build_table({"database_name": _TEXT}, ((alias,) for alias in aliases))


def _show_schemas(session: Session, scope: exp.Expression | None) -> pa.Table:
    columns = {"database_name": _TEXT, "schema_name": _TEXT, "current": _BOOL}
    schemas = ((one.catalog.alias, one.name) for one in _list_schemas(session, scope))
    return _build_table(columns, ((*place, place == session.current) for place in sorted(schemas)))


def _show_macros(session: Session, scope: exp.Expression | None) -> pa.Table:
    macros = [
        (macro.macro_name, schema.catalog.state.macro_type(macro))
        for schema in _resolve_schemas(session, scope)
        for macro in schema.catalog.state.macros(schema.name)
    ]
    return _build_table({"name": _TEXT, "type": _TEXT}, sorted(macros))


def _show_functions(session: Session, scope: exp.Expression | None) -> pa.Table:
    columns = {"name": _TEXT, "parameters": _TEXT, "changes": _BOOL}
    return _build_table(
        columns,
        (
            (PREFIX + one.name, " or ".join(map(str, one.signatures)), one.changes_data)
            for one in FUNCTIONS.values()
        ),
    )


def _show_columns(session: Session, scope: exp.Expression | None) -> pa.Table:
    if scope is None:
        raise InvalidInput(
            "SHOW COLUMNS does not name a table.", remedy="Write SHOW COLUMNS FROM table."
        )
    return describe_columns(session, scope)


def _show_snapshots(session: Session, scope: exp.Expression | None) -> pa.Table:
    (alias,) = {one.catalog.alias for one in _resolve_schemas(session, scope)}
    return QualifiedFunction(FUNCTIONS["snapshots"], alias).call(session, [], {})


_SHOW_FUNCTIONS: dict[str, ShowFunction] = {
    "TABLES": _show_tables,
    "ALL TABLES": _show_all_tables,
    "VIEWS": _show_views,
    "DATABASES": _show_databases,
    "CATALOGS": _show_databases,
    "SCHEMAS": _show_schemas,
    "NAMESPACES": _show_schemas,
    "COLUMNS": _show_columns,
    "MACROS": _show_macros,
    "FUNCTIONS": _show_functions,
    "SNAPSHOTS": _show_snapshots,
}
HANDLERS = {exp.Show: run_show}
