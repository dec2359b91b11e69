"""Macros: calls become what the macro says, with the arguments in the place of its parameters."""

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
from forklake.sql.dialect.nodes import function_call
from forklake.sql.dialect.parsing import parse_expression
from forklake.sql.dialect.stored import restored
from forklake.sql.query.names import tables

if TYPE_CHECKING:
    from forklake.spark.attachments import Attachment

_DEEPEST = 64

# The macro of a name, of a type, with its catalog and what is in it; None if there is none.
Found = tuple["Attachment", CatalogState, Macro]
Find = Callable[[Sequence[str], str], Found | None]
# Raises an error if what is stored of the macro of a name may not be used.
Check = Callable[["Overload", str], None]


@dataclass(frozen=True, slots=True)
class Overload:
    """What a call of a macro means."""

    dialect: str
    attachment: Attachment
    body: exp.Expr


def expanded(node: exp.Expr, find: Find, check: Check) -> exp.Expr:
    """Return a query without calls of scalar macros; InvalidInput if it becomes too large."""
    added = 0
    for _ in range(_DEEPEST):
        calls = [call for call in scalar_calls(node) if find(function_call(call)[0], "scalar")]
        if not calls:
            return node
        for call in calls:
            overload = called(function_call(call), "scalar", find, check)
            assert overload is not None
            # Counted while expanding: macros that call others twice grow exponentially.
            added += sum(1 for _ in overload.body.walk())
            limits.check_nodes(added)
            inner = exp.Paren(this=overload.body)
            if call is node:
                node = inner
            else:
                call.replace(inner)
    raise InvalidInput("A macro refers to itself.", remedy="Define it anew.")


def scalar_calls(node: exp.Expr) -> list[exp.Expr]:
    """Calls that are no tables, qualified ones as a whole, the innermost first."""
    found = []
    for one in node.find_all(exp.Anonymous):
        if not isinstance(one.parent, exp.Table):
            is_qualified = isinstance(one.parent, exp.Dot) and one.arg_key == "expression"
            found.append(one.parent if is_qualified and one.parent is not None else one)
    return found[::-1]


def called(
    call: tuple[Sequence[str], Sequence[exp.Expr], Mapping[str, exp.Expr]],
    type: str,
    find: Find,
    check: Check,
) -> Overload | None:
    """What a call means if it is one of a macro."""
    parts, positional, named = call
    found = find(parts, type)
    if found is None:
        return None
    attachment, state, macro = found
    for implementation in state.children(MacroImplementation, macro.macro_id):
        parameters = state.macro_parameters(macro, implementation.impl_id)
        arguments = _arguments(parameters, positional, named, implementation.dialect)
        if arguments is not None:
            given = {
                *map(folded, named),
                *(folded(one.parameter_name) for one in parameters[: len(positional)]),
            }
            missing = arguments.keys() - given
            dialect = implementation.dialect
            body = restored(
                implementation.sql, dialect, attachment.alias, is_expression=type == "scalar"
            )
            defaults = [value for name, value in arguments.items() if name in missing]
            for part in (body, *defaults):
                check(Overload(dialect, attachment, part), macro.macro_name)
            _qualify_tables(body, attachment, state, macro)
            return Overload(dialect, attachment, _filled(body, arguments))
    raise InvalidInput(
        f"The macro '{macro.macro_name}' does not take these arguments.",
        remedy=f"Write {' or '.join(_signatures(state, macro))}.",
    )


def _qualify_tables(
    body: exp.Expr, attachment: Attachment, state: CatalogState, macro: Macro
) -> None:
    """Tables that a body names without their catalog are those of its own catalog."""
    own = state.schema_of(macro).schema_name
    for table in tables(body):
        if isinstance(table.this, exp.Func) or len(table.parts) > 2:
            continue
        for schema in [table.db] if table.db else [own, "main"]:
            if state.find_schema(schema) and state.find_relation(table.name, schema):
                table.set("db", exp.to_identifier(schema, quoted=True))
                table.set("catalog", exp.to_identifier(attachment.alias, quoted=True))
                break


def _arguments(
    parameters: Sequence[MacroParameter],
    positional: Sequence[exp.Expr],
    named: Mapping[str, exp.Expr],
    dialect: str,
) -> dict[str, exp.Expr] | None:
    """What each parameter stands for; None if the arguments are not for these."""
    names = [folded(one.parameter_name) for one in parameters]
    if len(positional) > len(names):
        return None
    given = dict(zip(names, positional, strict=False))
    for name, value in named.items():
        if folded(name) not in names or folded(name) in given:
            return None
        given[folded(name)] = value
    for one in parameters:
        if folded(one.parameter_name) in given:
            continue
        if one.default_value is None:
            return None
        given[folded(one.parameter_name)] = parse_expression(one.default_value, dialect)
    return given


def _filled(body: exp.Expr, arguments: Mapping[str, exp.Expr]) -> exp.Expr:
    def fill(node: exp.Expr) -> exp.Expr:
        is_column = isinstance(node, exp.Column) and not node.table
        if (is_column or _is_method_name(node)) and folded(node.name) in arguments:
            value = arguments[folded(node.name)].copy()
            return value if isinstance(value, exp.Literal | exp.Column) else exp.Paren(this=value)
        return node

    return body.transform(fill)


def _is_method_name(node: exp.Expr) -> bool:
    """Whether a name stands for a column before a method: sqlglot makes `a` of `f(a).g()` bare."""
    if not isinstance(node, exp.Identifier) or node.find_ancestor(exp.Dot) is None:
        return False
    above = node.parent
    if isinstance(above, exp.Dot | exp.PropertyEQ | exp.Kwarg):
        return node.arg_key == ("expression" if not isinstance(above, exp.Dot) else "this")
    if isinstance(above, exp.Lambda):
        return node.arg_key == "this"
    return isinstance(above, exp.Func | exp.Binary | exp.Unary | exp.Paren | exp.Case | exp.If)


def _signatures(state: CatalogState, macro: Macro) -> list[str]:
    found = []
    for one in state.children(MacroImplementation, macro.macro_id):
        shown = [_shown(each) for each in state.macro_parameters(macro, one.impl_id)]
        found.append(f"{macro.macro_name}({', '.join(shown)})")
    return found


def _shown(parameter: MacroParameter) -> str:
    default = parameter.default_value
    return parameter.parameter_name + ("" if default is None else f" := {default}")
