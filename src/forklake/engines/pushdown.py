"""Conditions in Spark SQL, translated to predicates over the statistics of files.

A predicate may keep too many files but never too few: conditions that cannot be translated, or that
bounds cannot decide, are left out ("anything", here None). A row matches only if its condition is
true, so nulls do not prevent the translation of `NOT a < 5` to `a >= 5`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from forklake.engines.literals import INSTANTS, INTEGERS, Literals, Unknown, is_number, read
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.predicates import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Or,
    Predicate,
    StartsWith,
)
from forklake.model.values import INTEGER_RANGES, decimal_digits, to_text

Anything = None
Found = Predicate | None

_EXACT = Context(prec=200)
_EXACT_DOUBLES = 2**53  # doubles represent all integers up to here exactly
_TIMESTAMPS = frozenset({"timestamp", "timestamp_s", "timestamp_ms"})

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def predicate_of(
    conditions: Iterable[str],
    fields: Sequence[Field],
    *,
    physical: bool = False,
    zone: tzinfo | None = UTC,
) -> Found:
    """Return a predicate that is true for all files with rows for which the conditions are true.

    Args:
        physical: columns have the names in the files.
        zone: the time zone of the session; None if Python does not have it.
    """
    reading = _PredicateBuilder(_Names(fields, physical=physical), Literals(zone))
    return _all_of(reading.condition(parsed) for parsed in map(_parse_condition, conditions))


def _parse_condition(condition: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(condition, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        return None


# Databases limit the depth of an expression. Leaving parts out only means reading more files.
_MOST_PARTS = 200


def _all_of(parts: Iterable[Found]) -> Found:
    known = tuple(part for part in parts if part is not None)[:_MOST_PARTS]
    return And(known) if len(known) > 1 else known[0] if known else Anything


def _any_of(parts: Iterable[Found]) -> Found:
    known: list[Predicate] = []
    for part in parts:
        if part is None:
            return Anything
        known.append(part)
    if len(known) > _MOST_PARTS:
        return Anything
    return Or(tuple(known)) if len(known) > 1 else known[0] if known else Anything


class _Names:
    """Fields by the names that conditions use."""

    def __init__(self, fields: Sequence[Field], *, physical: bool) -> None:
        self._fields = fields
        self._physical = physical

    def field(self, node: exp.Expr) -> Field | None:
        """Return the plain field that a column expression refers to; None if that is not certain.

        The first parts may be a table name or alias: in `t.id`, `t` may be a table or a
        struct. If both are possible, neither is used.
        """
        if not isinstance(node, exp.Column | exp.Dot):
            return None
        parts = [folded(part.name) for part in node.parts]
        if any(not isinstance(part, exp.Identifier) for part in node.parts):
            return None
        found = [self._find_field(self._fields, parts[start:]) for start in range(len(parts))]
        certain = [field for field in found if field is not None]
        return certain[0] if len(certain) == 1 else None

    def _find_field(self, fields: Sequence[Field], path: Sequence[str]) -> Field | None:
        own = [one for one in fields if folded(self._name(one)) == path[0]]
        if len(own) != 1:
            return None
        (field,) = own
        if len(path) > 1:
            return self._find_field(field.fields, path[1:]) if field.type == "struct" else None
        return field

    def _name(self, field: Field) -> str:
        return field.physical_name if self._physical else field.name


@dataclass(frozen=True, slots=True)
class _PredicateBuilder:
    """Translation of parsed conditions to predicates."""

    names: _Names
    literals: Literals

    def condition(self, node: exp.Expr | None, negated: bool = False) -> Found:
        """Return the predicate of a condition, or of its negation."""
        match node:
            case exp.Paren():
                return self.condition(node.this, negated)
            case exp.Not():
                return self.condition(node.this, not negated)
            case exp.And() | exp.Or():
                parts = [self.condition(part, negated) for part in node.flatten()]
                return (_all_of if isinstance(node, exp.And) != negated else _any_of)(parts)
            case exp.Is(expression=exp.Null()):
                return self._null(node.this, negated)
            case exp.Anonymous() if node.name.lower() in ("isnull", "isnotnull"):
                is_positive = (node.name.lower() == "isnull") != negated
                return self._null(node.expressions[0], not is_positive)
            case exp.Between():
                low = self._comparison(node.this, ">=", node.args["low"], negated)
                high = self._comparison(node.this, "<=", node.args["high"], negated)
                return (_any_of if negated else _all_of)((low, high))
            case exp.Column() | exp.Dot():
                return self._compare_column(node, "=", not negated)
        operator = _COMPARISONS.get(type(node)) if node is not None else None
        if node is not None and operator is not None:
            return self._comparison(node.this, operator, node.expression, negated)
        return Anything if node is None or negated else self._positive(node)

    def _positive(self, node: exp.Expr) -> Found:
        """Return the predicate of a condition whose negation cannot be decided by bounds."""
        match node:
            case exp.NullSafeEQ(expression=exp.Null()):
                return self._null(node.this, False)
            case exp.NullSafeEQ():
                return self._comparison(node.this, "=", node.expression, False)
            case exp.In() if node.expressions:
                return self._match_list(node.this, node.expressions)
            case exp.StartsWith():
                return self._prefix(node.this, self.literals.value(node.expression))
            case exp.Like():
                pattern = self.literals.value(node.expression)
                return self._prefix(node.this, _fixed_part(pattern))
        return Anything

    def _null(self, node: exp.Expr, negated: bool) -> Found:
        field = self.names.field(node)
        if field is None or field.fields:
            return Anything
        return IsNotNull(field.column_id) if negated else IsNull(field.column_id)

    def _match_list(self, node: exp.Expr, items: Sequence[exp.Expr]) -> Found:
        values = [self.literals.value(item) for item in items]
        if any(value is Unknown for value in values):
            return Anything
        present = [value for value in values if value is not None]  # null equals nothing
        if any(isinstance(value, float) for value in present):  # then all are compared as doubles
            present = [read(float, str(one)) if is_number(one) else one for one in present]
        parts = [self._compare_column(node, "=", value) for value in present]
        if not parts or not all(isinstance(part, Compare) for part in parts):
            return _any_of(parts)
        same = [part for part in parts if isinstance(part, Compare)]
        return In(same[0].column_id, tuple(part.value for part in same))

    def _prefix(self, node: exp.Expr, prefix: Any) -> Found:
        field = self.names.field(node)
        if field is None or field.type != "varchar" or not isinstance(prefix, str) or not prefix:
            return Anything
        return StartsWith(field.column_id, prefix)

    def _comparison(self, left: exp.Expr, operator: str, right: exp.Expr, negated: bool) -> Found:
        if negated:
            operator = _OPPOSITE[operator]
        value = self.literals.value(right)
        if value is Unknown:
            left, operator, value = right, _MIRRORED[operator], self.literals.value(left)
        if value is Unknown or value is None:
            return Anything
        return self._compare_column(left, operator, value)

    def _compare_column(self, node: exp.Expr, operator: str, value: Any) -> Found:
        """Return the predicate of a column against a value; it may be in a monotonic cast."""
        while isinstance(node, exp.Paren):
            node = node.this
        target: exp.DataType | None = None
        if isinstance(node, exp.Cast):  # try_cast too
            target, node = node.to, node.this
        field = self.names.field(node)
        if field is None or field.fields:
            return Anything
        if target is not None and not _keeps_order(field.type, target, value):
            return self._by_day(field, operator, value) if _is_date(target) else Anything
        return self._bounds(field, operator, value)

    def _bounds(self, field: Field, operator: str, value: Any) -> Found:
        if field.type in INTEGER_RANGES:
            return _numeric(field, operator, value, scale=0)
        if field.type.startswith("decimal"):
            is_exact = isinstance(value, int | Decimal)
            scale = decimal_digits(field.type)[1]
            return _numeric(field, operator, value, scale) if is_exact else Anything
        if field.type in ("float32", "float64"):
            return _floating(field, operator, value)
        if field.type == "boolean":
            return _plain(field, operator, value) if operator == "=" else Anything
        if field.type == "varchar":
            return _plain(field, operator, value) if isinstance(value, str) else Anything
        if field.type == "date":
            return self._date(field, operator, value)
        if field.type in _TIMESTAMPS or field.type == "timestamptz":
            return _plain(field, operator, self.literals.moment(field.type, value))
        return Anything

    def _date(self, field: Field, operator: str, value: Any) -> Found:
        if isinstance(value, str):
            value = read(date.fromisoformat, value)
        if isinstance(value, datetime):  # the date is compared as its midnight
            moment = self.literals.moment("timestamp", value)
            if not isinstance(moment, datetime) or operator == "!=":
                return Anything
            weaker = {"<": "<=", ">": ">="}.get(operator, operator)
            return _plain(field, weaker, moment.date())
        return _plain(field, operator, value)

    def _by_day(self, field: Field, operator: str, value: Any) -> Found:
        """Return the predicate of a timestamp that is compared by its date only."""
        if field.type not in _TIMESTAMPS or type(value) is not date:
            return Anything
        first = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - without time zone
        try:
            after = first + timedelta(days=1)
        except OverflowError:
            return Anything
        from_then, until = _plain(field, ">=", first), _plain(field, "<", after)
        match operator:
            case "=":
                return _all_of((from_then, until))
            case ">=" | ">":
                return from_then
            case "<=" | "<":
                return until
        return Anything


def _keeps_order(column_type: str, target: exp.DataType, value: Any) -> bool:
    """Return whether comparing the cast column with the value equals comparing the column."""
    kind: exp.DType = target.this
    if column_type in INTEGER_RANGES:
        low, high = INTEGER_RANGES[column_type]
        if kind in INTEGERS:
            lowest, highest = INTEGER_RANGES[INTEGERS[kind]]
            return lowest <= low and high <= highest
        if kind is exp.DType.DOUBLE:
            return is_number(value) and bool(abs(value) < _EXACT_DOUBLES)
        return bool(kind is exp.DType.DECIMAL) and _whole_digits(target) >= len(str(high))
    if column_type.startswith("decimal") and kind is exp.DType.DECIMAL:
        precision, scale = decimal_digits(column_type)
        return _whole_digits(target) >= precision - scale and _digits(target)[1] >= scale
    if column_type == "float32":
        return kind is exp.DType.DOUBLE
    if column_type == "date":
        return kind in INSTANTS or kind is exp.DType.TIMESTAMPNTZ
    return column_type == "varchar" and kind is exp.DType.TEXT


def _is_date(target: exp.DataType) -> bool:
    return target.this is exp.DType.DATE


def _digits(decimal: exp.DataType) -> tuple[int, int]:
    given = [int(part.name) for part in decimal.expressions]
    return (given[0] if given else 10), (given[1] if len(given) > 1 else 0)


def _whole_digits(decimal: exp.DataType) -> int:
    precision, scale = _digits(decimal)
    return precision - scale


def _plain(field: Field, operator: str, value: Any) -> Found:
    text = None if value is Unknown else to_text(field.type, value)
    return Anything if text is None else Compare(field.column_id, operator, text)


def _numeric(field: Field, operator: str, value: Any, scale: int) -> Found:
    """Return the predicate of a column whose values have `scale` digits after the point."""
    if not is_number(value) or (isinstance(value, float) and abs(value) >= _EXACT_DOUBLES):
        return Anything  # as doubles, different numbers can be equal
    exact = Decimal(value)
    if not exact.is_finite() or exact.adjusted() > 100:
        return Anything
    step = Decimal(1).scaleb(-scale)
    below = exact.quantize(step, ROUND_FLOOR, _EXACT)
    if below == exact:
        return _plain(field, operator, below)
    if operator in (">", ">="):
        return _plain(field, ">", below)
    if operator in ("<", "<="):
        return _plain(field, "<", exact.quantize(step, ROUND_CEILING, _EXACT))
    return Anything


def _floating(field: Field, operator: str, value: Any) -> Found:
    if not is_number(value):
        return Anything
    number = read(float, str(value))
    if not isinstance(number, float) or not math.isfinite(number):
        return Anything
    return _plain(field, operator, number)


def _fixed_part(pattern: Any) -> Any:
    """Return the prefix of all texts that are LIKE a pattern."""
    if not isinstance(pattern, str):
        return Unknown
    for position, sign in enumerate(pattern):
        if sign in "%_\\":
            return pattern[:position]
    return pattern
