"""CREATE and DROP of macros: stored expressions and queries with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.catalog.definitions import MacroSpec
from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.sql import constants
from forklake.sql.dialect import nodes
from forklake.sql.dialect.definitions import TABLE_MACRO
from forklake.sql.dialect.stored import find_tables, stored_text
from forklake.sql.query.stored_sql import check_body, refuse_built_in
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session


def create_macro(session: Session, statement: exp.Create) -> Result:
    """Run CREATE MACRO. Overloads differ in the number of their parameters."""
    place = session.resolve(nodes.name_parts(statement.this.this))
    refuse_built_in(place.table)
    overloads = statement.expression.expressions
    type = _macro_type(overloads, place.table)
    with session.in_home(place.attachment, place.schema):
        specs = [_build_spec(session, one, place.attachment, place.table) for one in overloads]
    if len({len(spec.parameters) for spec in specs}) != len(specs):
        raise InvalidInput(
            f"Two overloads of macro '{place.table}' have the same number of parameters.",
            remedy="Remove one of them, or change its number of parameters.",
        )
    with session.changing(place.attachment) as change:
        state = change.transaction.state
        exists = state.find_macro(place.table, place.schema, type=type) is not None
        if exists and statement.args.get("exists"):
            change.transaction.record_definitions()
        else:
            change.transaction.create_macro(
                place.table,
                specs,
                schema=place.schema,
                type=type,
                or_replace=bool(statement.args.get("replace")),
            )
    return Result.done("CREATE MACRO")


def _macro_type(overloads: list[exp.MacroOverload], name: str) -> str:
    kinds = {"table" if one.args.get("is_table") else "scalar" for one in overloads}
    if len(kinds) > 1:
        raise InvalidInput(
            f"Macro '{name}' has both scalar and table overloads.",
            remedy="Create two macros with different names.",
        )
    return kinds.pop()


def _build_spec(
    session: Session, overload: exp.MacroOverload, home: Attachment, name: str
) -> MacroSpec:
    parameters = [one.this.name for one in overload.expressions]
    if len({folded(one) for one in parameters}) != len(parameters):
        raise InvalidInput(
            f"Macro '{name}' has two parameters of the same name.", remedy="Rename one of them."
        )
    check_body(session, overload.this, f"The macro '{name}'", home)
    for table in find_tables(overload.this):
        _require_relation(session, table)
    return MacroSpec(
        stored_text(overload.this, session, home),
        parameters,
        _read_defaults(overload, name, session.dialect),
        session.dialect,
    )


def _require_relation(session: Session, table: exp.Table) -> None:
    """Raise NotFound if a table in a macro does not exist."""
    place = session.resolve(nodes.name_parts(table))
    view = session.viewing(place.attachment)
    if view.state.find_relation(place.table, place.schema) is None:
        session.find_table(view, place)


def _read_defaults(overload: exp.MacroOverload, name: str, dialect: str) -> dict[str, str]:
    """Return the defaults by parameter. Raise InvalidInput unless parameters with one are last."""
    defaults: dict[str, str] = {}
    for parameter in overload.expressions:
        default = parameter.args.get("default")
        if default is None and defaults:
            raise InvalidInput(
                f"The parameter '{parameter.name}' of macro '{name}' has no default, but follows"
                " a parameter that has one.",
                remedy="Put parameters with defaults last.",
            )
        if default is not None:
            constants.evaluate_constant(default)
            defaults[parameter.name] = default.sql(dialect)
    return defaults


def drop_macro(session: Session, name: tuple[str, ...], statement: exp.Drop) -> None:
    """Run DROP MACRO."""
    if_exists = bool(statement.args.get("exists"))
    type = "table" if statement.args["kind"] == TABLE_MACRO else "scalar"
    place = session.place_to_drop(name, if_exists=if_exists)
    if place is None:
        return
    with session.changing(place.attachment) as change:
        change.transaction.drop_macro(
            place.table, schema=place.schema, type=type, if_exists=if_exists
        )
