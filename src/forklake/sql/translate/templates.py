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

__all__ = ["ByType", "Template", "arity", "by_type", "fill_template"]


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


def fill_template(template: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """Return the expression of a template with these arguments."""
    values = {f"_{number}": [one] for number, one in enumerate(arguments)}
    values["_all"] = list(arguments)
    values["_rest"] = list(arguments[1:])
    holder = exp.Tuple(expressions=[_parse_template(template).copy()])
    for node in list(holder.find_all(exp.Column, exp.Identifier)):
        is_part = isinstance(node.parent, exp.Column)  # inside of a column, which is replaced
        if node.name in values and not is_part and not node.args.get("table"):
            _replace_placeholder(node, [_enclose(one.copy()) for one in values[node.name]])
    result: exp.Expr = holder.expressions[0]
    return result.pop()


def _replace_placeholder(placeholder: exp.Expr, arguments: list[exp.Expr]) -> None:
    if len(arguments) == 1:
        placeholder.replace(arguments[0])
        return
    call = placeholder.parent
    assert call is not None
    items = call.expressions
    at = next(number for number, one in enumerate(items) if one is placeholder)
    call.set("expressions", [*items[:at], *arguments, *items[at + 1 :]])


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
