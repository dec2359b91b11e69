"""Binding of values to the parameters `?`, `$1` and `$name` of a statement."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.sql import limits
from forklake.sql.dialect.nodes import Prepare

_MAX_BITS = 1024  # of a number, as DOUBLE has: Python writes no number of many digits

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any] | None


def bind_parameters(statements: Sequence[exp.Expr], parameters: Parameters) -> list[exp.Expr]:
    """Return the statements with values in place of parameters. Every value must be used."""
    placeholders = sorted(
        (node for statement in statements for node in _find_placeholders(statement)),
        key=lambda node: node.meta["start"],
    )
    if not placeholders and not parameters:
        return list(statements)
    limits.check_values(parameters)
    names = list(_name_parameters(placeholders))
    values = _values_by_name(parameters)
    missing = sorted({name for name in names if name not in values})
    unused = sorted(set(values) - set(names))
    if missing or unused:
        raise InvalidInput(
            f"The statement has no value for {_join_names(missing)}."
            if missing
            else f"The statement has no parameter {_join_names(unused)}.",
            remedy="Pass one value for each parameter: a sequence for ? and $1, a mapping for"
            " $name.",
        )
    bound = list(statements)
    for node, name in zip(placeholders, names, strict=True):
        literal = literal_of(values[name])
        if node in bound:
            bound[bound.index(node)] = literal
        else:
            node.replace(literal)
    return bound


def _find_placeholders(statement: exp.Expr) -> Iterator[exp.Expr]:
    if not isinstance(statement, Prepare):  # its values come with EXECUTE
        yield from statement.find_all(exp.Placeholder, exp.Parameter)


def _name_parameters(nodes: Sequence[exp.Expr]) -> Iterator[str]:
    """Yield the name of each parameter; those without a name are numbered from 1."""
    count = 0
    for node in nodes:
        name = node.name
        if not name or name == "?":
            count += 1
            name = str(count)
        yield name


def _values_by_name(parameters: Parameters) -> dict[str, Any]:
    if isinstance(parameters, Mapping):
        return dict(parameters)
    return {str(number): value for number, value in enumerate(parameters or (), 1)}


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(f"${name}" for name in names)


def literal_of(value: Any) -> exp.Expr:
    """Return a Python value as a SQL expression."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() if value.bit_length() > _MAX_BITS:
            raise InvalidInput(
                "A parameter is a number beyond the range of DOUBLE.",
                remedy="Give a smaller number, or a text.",
            )
        case int():
            return _number_literal(str(abs(value)), value < 0)
        case Decimal() if value.is_finite():
            return _number_literal(f"{abs(value):f}", value < 0)
        case float():
            text = repr(value) if math.isfinite(value) else str(value)
            return _cast_literal(text, "DOUBLE")
        case str():
            return exp.Literal.string(value)
        case bytes() | bytearray():
            return exp.Unhex(this=exp.Literal.string(bytes(value).hex()))
        case uuid.UUID():
            return _cast_literal(str(value), "UUID")
        case datetime():
            return _cast_literal(
                value.isoformat(" "), "TIMESTAMPTZ" if value.tzinfo else "TIMESTAMP"
            )
        case date():
            return _cast_literal(value.isoformat(), "DATE")
        case time():
            return _cast_literal(value.isoformat(), "TIME")
        case timedelta():
            return _interval_literal(value)
        case Mapping():
            return exp.Struct(expressions=[_struct_field(key, one) for key, one in value.items()])
        case list() | tuple():
            return exp.Array(expressions=[literal_of(one) for one in value])
    raise InvalidInput(
        f"A value of type {type(value).__name__} cannot be used as a parameter.",
        remedy="Pass numbers, strings, dates, times, bytes, UUIDs, lists or mappings.",
    )


def _number_literal(digits: str, is_negative: bool) -> exp.Expr:
    number = exp.Literal.number(digits)
    return exp.Neg(this=number) if is_negative else number


def _struct_field(name: object, value: Any) -> exp.Expr:
    key = exp.to_identifier(str(name), quoted=True)
    return exp.PropertyEQ(this=key, expression=literal_of(value))


def _cast_literal(text: str, kind: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(text), kind, dialect="duckdb")


def _interval_literal(value: timedelta) -> exp.Expr:
    microseconds = value // timedelta(microseconds=1)
    return exp.Interval(this=exp.Literal.string(str(microseconds)), unit=exp.var("MICROSECONDS"))
