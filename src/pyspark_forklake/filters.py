"""Filters that Spark passes to Python data sources, translated to SQL conditions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import datasource as ds
from sqlglot import exp

_COMPARISONS: dict[type[ds.Filter], type[exp.Expr]] = {
    ds.EqualTo: exp.EQ,
    ds.EqualNullSafe: exp.NullSafeEQ,
    ds.GreaterThan: exp.GT,
    ds.GreaterThanOrEqual: exp.GTE,
    ds.LessThan: exp.LT,
    ds.LessThanOrEqual: exp.LTE,
    ds.StringStartsWith: exp.StartsWith,
}
_DEEPEST = 4  # most parts that a column name has in SQL


def conditions(filters: Iterable[ds.Filter]) -> list[str]:
    """Return the translatable filters as Spark SQL conditions."""
    translated = (_condition(one) for one in filters)
    return [one.sql("spark") for one in translated if one is not None]


def _condition(one: ds.Filter) -> exp.Expr | None:
    match one:
        case ds.Not(child):
            inside = _condition(child)
            return None if inside is None else exp.not_(exp.paren(inside))
        case ds.IsNull(attribute):
            return exp.Is(this=_column(attribute), expression=exp.null())
        case ds.IsNotNull(attribute):
            return exp.not_(exp.Is(this=_column(attribute), expression=exp.null()))
        case ds.In(attribute, values):
            items = [_literal(value) for value in values]
            if None in items:
                return None
            return exp.In(this=_column(attribute), expressions=items)
    kind = _COMPARISONS.get(type(one))
    value = _literal(getattr(one, "value", one))
    if kind is None or value is None:
        return None
    return kind(this=_column(one.attribute), expression=value)  # type: ignore[attr-defined]


def _column(attribute: tuple[str, ...]) -> exp.Expr:
    parts = [exp.to_identifier(part, quoted=True) for part in attribute]
    if len(parts) > _DEEPEST:
        return exp.null()  # NULL makes the condition unusable for pruning
    return exp.column(*reversed(parts))


def _literal(value: Any) -> exp.Expr | None:
    match value:
        case None:
            return exp.null()
        case bool():
            return exp.Boolean(this=value)
        case int() | str():
            return exp.convert(value)
        case Decimal():
            return exp.cast(exp.Literal.string(f"{value:f}"), "decimal(38,18)")
        case float():
            return exp.cast(exp.Literal.string(repr(value)), "double")
        case datetime():
            kind = "timestamp_ntz" if value.tzinfo is None else "timestamp"
            return exp.cast(exp.Literal.string(value.isoformat(" ")), kind, dialect="spark")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
    return None
