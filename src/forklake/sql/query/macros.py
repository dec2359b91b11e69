"""Expansion of macros: a call is replaced by the body, with arguments in place of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.children import MacroImplementation, MacroParameter
from forklake.model.entities import Macro
from forklake.model.names import folded
from forklake.model.state import CatalogState
from forklake.sql import limits
from forklake.sql.dialect.nodes import split_call
from forklake.sql.dialect.parsing import parse_expression
from forklake.sql.dialect.stored import parse_stored_text
from forklake.sql.query.names import find_tables_and_functions

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment

_MAX_DEPTH = 64

# Result of a search: the catalog of a macro, its state and the macro.
FoundMacro = tuple["Attachment", CatalogState, Macro]
# Finds a macro by its name and type (scalar or table).
FindMacro = Callable[[Sequence[str], str], FoundMacro | None]
# Raises an error if the stored body or a stored default of a macro of this name is not allowed.
CheckBody = Callable[["MacroBody", str], None]


@dataclass(frozen=True, slots=True)
class MacroBody:
    """Body that replaces a call of a macro."""

    dialect: str
    attachment: Attachment
    body: exp.Expr


def expand_macros(node: exp.Expr, find: FindMacro, check: CheckBody) -> exp.Expr:
    """Return a query without calls of scalar macros; InvalidInput if it becomes too large."""
    added = 0
    for _ in range(_MAX_DEPTH):
        calls = [call for call in find_scalar_calls(node) if find(split_call(call)[0], "scalar")]
        if not calls:
            return node
        for call in calls:
            replacement = expand_call(split_call(call), "scalar", find, check)
            assert replacement is not None
            # Counted while expanding: macros that call others twice grow exponentially.
            added += sum(1 for _ in replacement.body.walk())
            limits.check_nodes(added)
            inner = exp.Paren(this=replacement.body)
            if call is node:
                node = inner
            else:
                call.replace(inner)
    raise InvalidInput(
        "A macro refers to itself.", remedy="Define it again without a reference to itself."
    )


def find_scalar_calls(node: exp.Expr) -> list[exp.Expr]:
    """Return calls outside of FROM, with their qualifiers, innermost first."""
    found = []
    for one in node.find_all(exp.Anonymous):
        if not isinstance(one.parent, exp.Table):
            is_qualified = isinstance(one.parent, exp.Dot) and one.arg_key == "expression"
            found.append(one.parent if is_qualified and one.parent is not None else one)
    return found[::-1]


def expand_call(
    call: tuple[Sequence[str], Sequence[exp.Expr], Mapping[str, exp.Expr]],
    type: str,
    find: FindMacro,
    check: CheckBody,
) -> MacroBody | None:
    """Return the body that replaces a call, or None if it does not call a macro."""
    parts, positional, named = call
    found = find(parts, type)
    if found is None:
        return None
    attachment, state, macro = found
    for implementation in state.children(MacroImplementation, macro.macro_id):
        parameters = state.macro_parameters(macro, implementation.impl_id)
        arguments = _bind_arguments(parameters, positional, named, implementation.dialect)
        if arguments is not None:
            passed = {
                *map(folded, named),
                *(folded(one.parameter_name) for one in parameters[: len(positional)]),
            }
            missing = arguments.keys() - passed
            dialect = implementation.dialect
            body = parse_stored_text(
                implementation.sql, dialect, attachment.alias, is_expression=type == "scalar"
            )
            defaults = [value for name, value in arguments.items() if name in missing]
            for part in (body, *defaults):
                check(MacroBody(dialect, attachment, part), macro.macro_name)
            _qualify_tables(body, attachment, state, macro)
            return MacroBody(dialect, attachment, _fill_body(body, arguments))
    raise InvalidInput(
        f"The macro '{macro.macro_name}' does not take these arguments.",
        remedy=f"Write {' or '.join(_format_signatures(state, macro))}.",
    )


def _qualify_tables(
    body: exp.Expr, attachment: Attachment, state: CatalogState, macro: Macro
) -> None:
    """Qualify tables without a catalog that exist in the catalog of the macro."""
    own = state.schema_of(macro).schema_name
    for table in find_tables_and_functions(body):
        if isinstance(table.this, exp.Func) or len(table.parts) > 2:
            continue
        for schema in [table.db] if table.db else [own, "main"]:
            if state.find_schema(schema) and state.find_relation(table.name, schema):
                table.set("db", exp.to_identifier(schema, quoted=True))
                table.set("catalog", exp.to_identifier(attachment.alias, quoted=True))
                break


def _bind_arguments(
    parameters: Sequence[MacroParameter],
    positional: Sequence[exp.Expr],
    named: Mapping[str, exp.Expr],
    dialect: str,
) -> dict[str, exp.Expr] | None:
    """Return the value of each parameter by its folded name; None if the arguments do not fit."""
    names = [folded(one.parameter_name) for one in parameters]
    if len(positional) > len(names):
        return None
    arguments = dict(zip(names, positional, strict=False))
    for name, value in named.items():
        if folded(name) not in names or folded(name) in arguments:
            return None
        arguments[folded(name)] = value
    for one in parameters:
        if folded(one.parameter_name) in arguments:
            continue
        if one.default_value is None:
            return None
        arguments[folded(one.parameter_name)] = parse_expression(one.default_value, dialect)
    return arguments


def _fill_body(body: exp.Expr, arguments: Mapping[str, exp.Expr]) -> exp.Expr:
    def fill(node: exp.Expr) -> exp.Expr:
        is_column = isinstance(node, exp.Column) and not node.table
        if (is_column or _is_bare_column(node)) and folded(node.name) in arguments:
            value = arguments[folded(node.name)].copy()
            return value if isinstance(value, exp.Literal | exp.Column) else exp.Paren(this=value)
        return node

    return body.transform(fill)


def _is_bare_column(node: exp.Expr) -> bool:
    """Return whether a bare name is a column: sqlglot parses `a` of `f(a).g()` like that."""
    if not isinstance(node, exp.Identifier) or node.find_ancestor(exp.Dot) is None:
        return False
    parent = node.parent
    if isinstance(parent, exp.Dot | exp.PropertyEQ | exp.Kwarg):
        return node.arg_key == ("expression" if not isinstance(parent, exp.Dot) else "this")
    if isinstance(parent, exp.Lambda):
        return node.arg_key == "this"
    return isinstance(parent, exp.Func | exp.Binary | exp.Unary | exp.Paren | exp.Case | exp.If)


def _format_signatures(state: CatalogState, macro: Macro) -> list[str]:
    signatures = []
    for one in state.children(MacroImplementation, macro.macro_id):
        parameters = [
            _format_parameter(each) for each in state.macro_parameters(macro, one.impl_id)
        ]
        signatures.append(f"{macro.macro_name}({', '.join(parameters)})")
    return signatures


def _format_parameter(parameter: MacroParameter) -> str:
    default = parameter.default_value
    return parameter.parameter_name + ("" if default is None else f" := {default}")
