"""Templates: fragments of Spark SQL in which `_0`, `_1`… stand for arguments.

`_all` stands for all arguments and `_rest` for those after the first, in the list of a call.
A template that depends on the types of its arguments is a choice among several, which Spark makes
when the types are resolved; see `dispatch`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

from forklake.engines.spark.choices import ByType, by_type

__all__ = ["ByType", "Template", "arity", "by_type", "filled"]


Template = str | ByType


class PlainSpark(Spark):
    """Spark SQL syntax without the functions that sqlglot maps to other nodes."""

    INDEX_OFFSET = 0

    class Parser(SparkParser):
        STRICT_CAST = True
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }


def arity(template: str) -> int | None:
    """Return how many arguments a template takes; None if any number."""
    if "_all" in template or "_rest" in template:
        return None
    return max((int(place) + 1 for place in re.findall(r"\b_(\d)\b", template)), default=0)


def filled(template: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """Return the expression of a template with these arguments."""
    places = {f"_{number}": [one] for number, one in enumerate(arguments)}
    places["_all"] = list(arguments)
    places["_rest"] = list(arguments[1:])
    holder = exp.Tuple(expressions=[_parse_template(template).copy()])
    for found in list(holder.find_all(exp.Column, exp.Identifier)):
        is_part = isinstance(found.parent, exp.Column)  # inside of a column, which is replaced
        if found.name in places and not is_part and not found.args.get("table"):
            _put(found, [_enclose(one.copy()) for one in places[found.name]])
    made: exp.Expr = holder.expressions[0]
    return made.pop()


def _put(place: exp.Expr, arguments: list[exp.Expr]) -> None:
    if len(arguments) == 1:
        place.replace(arguments[0])
        return
    call = place.parent
    assert call is not None
    listed = call.expressions
    at = next(number for number, one in enumerate(listed) if one is place)
    call.set("expressions", [*listed[:at], *arguments, *listed[at + 1 :]])


def _enclose(argument: exp.Expr) -> exp.Expr:
    """Put an argument in parentheses if operators around it could bind more tightly."""
    loose = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Not, exp.Select)
    return exp.Paren(this=argument) if isinstance(argument, loose) else argument


@cache
def _parse_template(template: str) -> exp.Expr:
    parsed = parse_one(template, read=PlainSpark)
    for node in parsed.walk():
        node.meta["spark"] = True  # so that no rule translates it again
    return parsed
