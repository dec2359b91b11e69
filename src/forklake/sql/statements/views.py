"""CREATE, DROP and RENAME of views, which are checked when they are created."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import View
from forklake.model.names import folded
from forklake.sql.dialect import nodes
from forklake.sql.dialect.stored import find_tables, format_aliases, parse_stored_text, stored_text
from forklake.sql.query.binding import analyze_schema
from forklake.sql.query.stored_sql import check_body
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.session.name_resolution import TableName
    from forklake.sql.session import Session


def create_view(session: Session, statement: exp.Create) -> Result:
    """Run CREATE VIEW, after a check that its query can be run."""
    target, query = statement.this, statement.expression
    if query is None:
        raise InvalidInput(
            "CREATE VIEW has no query.", remedy="Write CREATE VIEW name AS SELECT …."
        )
    place = session.resolve(nodes.name_parts(target))
    aliases = [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []
    if_not_exists = bool(statement.args.get("exists"))
    or_replace = bool(statement.args.get("replace"))
    with session.changing(place.attachment) as change:
        existing = change.transaction.state.find_relation(place.table, place.schema)
        with session.in_home(place.attachment, place.schema):
            if not (if_not_exists and isinstance(existing, View)):
                _check_view(session, query, place, aliases)
            text = _build_stored_text(session, query, place)
        change.transaction.create_view(
            place.table,
            text,
            schema=place.schema,
            dialect=session.dialect,
            column_aliases=format_aliases(aliases),
            or_replace=or_replace,
            if_not_exists=if_not_exists,
        )
    return Result.done("CREATE VIEW")


def _build_stored_text(session: Session, query: exp.Expr, place: TableName) -> str:
    text = stored_text(query, session, place.attachment)
    if parse_stored_text(text, session.dialect, place.attachment.alias).find(exp.Placeholder):
        raise InvalidInput(
            "A view cannot have parameters.", remedy="Replace the parameters by values."
        )
    return text


def _check_view(
    session: Session, query: exp.Expr, place: TableName, aliases: Sequence[str]
) -> None:
    """Raise InvalidInput if a view reads itself, is not a query, or names too many columns."""
    if _reads_view(session, query, place):
        raise InvalidInput(
            f"The view '{place}' refers to itself.",
            remedy="Read the tables of the view instead of the view.",
        )
    check_body(session, query, f"The view '{place}'", place.attachment)
    columns = analyze_schema(session, query).names
    if len(aliases) > len(columns):
        raise InvalidInput(
            f"The view names {len(aliases)} columns, but the query has {len(columns)}.",
            remedy="Name at most as many columns as the query has.",
        )


def _reads_view(
    session: Session, query: exp.Expr, target: TableName, visited: set[str] | None = None
) -> bool:
    """Return whether a query reads the view `target`, directly or through other views."""
    visited = set() if visited is None else visited
    for table in find_tables(query):
        try:
            place = session.resolve(nodes.name_parts(table))
        except NotFound:
            continue
        state = session.viewing(place.attachment).state
        relation = state.find_relation(place.table, place.schema)
        if not isinstance(relation, View) or folded(str(place)) in visited:
            continue
        if _is_same_relation(place, target):
            return True
        visited.add(folded(str(place)))
        inner = parse_stored_text(relation.sql, relation.dialect, place.attachment.alias)
        with session.in_home(place.attachment, place.schema):
            if _reads_view(session, inner, target, visited):
                return True
    return False


def _is_same_relation(one: TableName, other: TableName) -> bool:
    names = [
        (folded(place.attachment.alias), folded(place.schema), folded(place.table))
        for place in (one, other)
    ]
    return names[0] == names[1]


def drop_view(session: Session, name: tuple[str, ...], statement: exp.Drop) -> None:
    """Run DROP VIEW."""
    if_exists = bool(statement.args.get("exists"))
    place = session.place_to_drop(name, if_exists=if_exists)
    if place is None:
        return
    with session.changing(place.attachment) as change:
        change.transaction.drop_view(place.table, schema=place.schema, if_exists=if_exists)


def rename_view(session: Session, name: tuple[str, ...], new_name: str) -> None:
    """Rename a view within its schema."""
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        change.transaction.rename_view(place.table, new_name, schema=place.schema)
