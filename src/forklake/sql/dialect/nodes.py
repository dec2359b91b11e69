"""Syntax tree nodes that sqlglot does not have, and functions that read nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from sqlglot import exp

from forklake.errors import InvalidInput

VERSION, TIMESTAMP = "VERSION", "TIMESTAMP"


class Call(exp.Expression):
    """CALL: `this` is the function, an Anonymous, which Dots may qualify."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Load(exp.Expression):
    """LOAD of an extension."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Checkpoint(exp.Expression):
    """CHECKPOINT of a catalog, or of the current one."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False}


class Explain(exp.Expression):
    """EXPLAIN [ANALYZE] of a statement."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "analyze": False}


class Reset(exp.Expression):
    """RESET of a setting."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Prepare(exp.Expression):
    """PREPARE of a statement under a name."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Execute(exp.Expression):
    """EXECUTE of a prepared statement, with values for its parameters."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class Deallocate(exp.Expression):
    """DEALLOCATE of a prepared statement."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class MacroParameter(exp.Expression):
    """Parameter of a macro: its name, and optionally its type and default."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": False, "default": False}


class SortedBy(exp.Expression):
    """Columns of ALTER TABLE … SET SORTED BY."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class AlterReset(exp.Expression):
    """ALTER TABLE … RESET: `this` is a Var, PARTITIONED or SORTED."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


# Reading nodes


def name_parts(node: exp.Expr | None) -> tuple[str, ...]:
    """Return the parts of a dotted name: of a table, a column, a path or an identifier."""
    match node:
        case None:
            return ()
        case exp.Dot():
            return (*name_parts(node.this), *name_parts(node.expression))
        case exp.Table() | exp.Column():
            return tuple(part for one in node.parts for part in _split_part(one))
        case exp.Schema():
            return name_parts(node.this)
    return (node.name,)


def _split_part(part: exp.Expr) -> tuple[str, ...]:
    return name_parts(part) if isinstance(part, exp.Dot) else (part.name,)


def pop_time_travel(table: exp.Table) -> tuple[str, exp.Expr] | None:
    """Remove the AT clause of a table; return (`VERSION` or `TIMESTAMP`, value), or None."""
    when = table.args.pop("when", None)
    if when is None:
        return None
    kind = str(when.args["kind"]).upper()
    if kind not in (VERSION, TIMESTAMP):
        raise InvalidInput(
            f"AT ({kind} => …) is not supported.",
            remedy="Write AT (VERSION => 5) or AT (TIMESTAMP => '2024-01-31').",
        )
    return kind, when.expression


def split_call(
    node: exp.Expr,
) -> tuple[tuple[str, ...], list[exp.Expr], dict[str, exp.Expr]]:
    """Return the dotted name, positional arguments and named arguments (lower case) of a call.

    The node is a CALL, a function in FROM or one in an expression.
    """
    *qualifiers, function = call_parts(node)
    prefix = tuple(part for one in qualifiers for part in name_parts(one))
    is_relation = isinstance(node, Call | exp.Table)
    positional: list[exp.Expr] = []
    named: dict[str, exp.Expr] = {}
    for argument in _arguments(function):
        if not _is_named(argument, is_relation):
            positional.append(argument)
            continue
        key = argument.this.name.lower()
        if key in named:
            raise InvalidInput(
                f"The argument '{key}' of {_function_name(function)} is given twice.",
                remedy="Give it once.",
            )
        named[key] = argument.expression
    return (*prefix, _function_name(function)), positional, named


def call_parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the identifiers that qualify a function, followed by the function."""
    match node:
        case Call():
            return call_parts(node.this)
        case exp.Dot():
            return [*call_parts(node.this), node.expression]
        case exp.Table():
            return list(node.parts)
    return [node]


def _function_name(function: exp.Expr) -> str:
    if isinstance(function, exp.Anonymous):
        return function.name
    assert isinstance(function, exp.Func)
    return function.sql_name().lower()


def _arguments(function: exp.Expr) -> Iterator[exp.Expr]:
    values = (
        [function.expressions] if isinstance(function, exp.Anonymous) else function.args.values()
    )
    for value in values:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, exp.Expr):
                yield one


def _is_named(argument: exp.Expr, is_relation: bool) -> bool:
    """Return whether an argument is named: `a => 1` or `a := 1`, and `a = 1` in a relation."""
    if isinstance(argument, exp.EQ) and is_relation:
        return isinstance(argument.this, exp.Column) and len(argument.this.parts) == 1
    return isinstance(argument, exp.Kwarg | exp.PropertyEQ)
