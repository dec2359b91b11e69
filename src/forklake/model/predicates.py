"""Predicates on rows, and the test whether a data file may contain a matching row.

A predicate consists of frozen values; columns are given by id, and values are texts in the form of
stored bounds. `question` translates it into range checks that the bounds of a file can answer. The
answer may be wrong in one direction only: a file with a matching row is never excluded. A file
whose statistics are missing or cannot be parsed may match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.orders import Order, order_of


@dataclass(frozen=True, slots=True)
class Anything:
    """True for every row."""


@dataclass(frozen=True, slots=True)
class Compare:
    """Comparison with a value: one of = != < <= > >= . NULL never fulfills it."""

    column_id: ColumnId
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class In:
    """The column equals one of the values."""

    column_id: ColumnId
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text starts with a prefix."""

    column_id: ColumnId
    prefix: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The column is NULL."""

    column_id: ColumnId


@dataclass(frozen=True, slots=True)
class IsNotNull:
    """The column is not NULL."""

    column_id: ColumnId


@dataclass(frozen=True, slots=True)
class And:
    """All parts are true; without parts it is true for every row."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false. A comparison with NULL is neither true nor false."""

    part: Predicate


Predicate = Anything | Compare | In | StartsWith | IsNull | IsNotNull | And | Or | Not


# Questions that the statistics of a file can answer


@dataclass(frozen=True, slots=True)
class Within:
    """Some value lies between two bounds, either of which may be missing.

    With `excludes_low` or `excludes_high` the bound itself is outside of the range.
    """

    column_id: ColumnId
    order: Order
    low: Any = None
    high: Any = None
    excludes_low: bool = False
    excludes_high: bool = False


@dataclass(frozen=True, slots=True)
class Differs:
    """Some value differs from this one."""

    column_id: ColumnId
    order: Order
    value: Any


@dataclass(frozen=True, slots=True)
class AllOf:
    """All parts may hold for the file."""

    parts: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part may hold for the file."""

    parts: tuple[Question, ...]


Question = Anything | Within | Differs | IsNull | IsNotNull | AllOf | AnyOf

_INVERSE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# Longer lists of values become one range.
_MOST_VALUES = 64


def question(predicate: Predicate, types: Mapping[ColumnId, str]) -> Question:
    """Translate a predicate into a question about files, given the types of the columns."""
    match predicate:
        case And(parts):
            return _all_of([question(part, types) for part in parts])
        case Or(parts):
            return _any_of([question(part, types) for part in parts])
        case Not(part):
            return question(_negated(part), types)
        case Compare() | In() | StartsWith() if order := order_of(types.get(predicate.column_id)):
            return _asked(predicate, order)
        case Compare(column_id) | In(column_id) | StartsWith(column_id) | IsNotNull(column_id):
            return IsNotNull(column_id) if column_id in types else Anything()
        case IsNull(column_id) if column_id in types:
            return predicate
    return Anything()


def _all_of(parts: list[Question]) -> Question:
    useful = tuple(part for part in parts if part != Anything())
    return useful[0] if len(useful) == 1 else AllOf(useful) if useful else Anything()


def _any_of(parts: list[Question]) -> Question:
    if Anything() in parts:
        return Anything()
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _negated(predicate: Predicate) -> Predicate:
    """Return the predicate that is true where this one is false. NULL fulfills neither."""
    match predicate:
        case And(parts):
            return Or(tuple(Not(part) for part in parts))
        case Or(parts):
            return And(tuple(Not(part) for part in parts))
        case Not(part):
            return part
        case Compare(_, operator):
            return replace(predicate, operator=_INVERSE[operator])
        case In(column_id, values):
            return And(tuple(Compare(column_id, "!=", value) for value in values))
        case IsNull(column_id):
            return IsNotNull(column_id)
        case IsNotNull(column_id):
            return IsNull(column_id)
        case StartsWith(column_id):
            return IsNotNull(column_id)
    return Anything()


def _asked(predicate: Compare | In | StartsWith, order: Order) -> Question:
    column_id = predicate.column_id
    match predicate:
        case Compare(_, operator, value):
            return _compared(column_id, operator, order, order.key(value))
        case In(_, values):
            keys = sorted({key for value in values if (key := order.key(value)) is not None})
            if len(keys) < len(set(values)):  # one of them cannot be compared
                return IsNotNull(column_id)
            if len(keys) > _MOST_VALUES:
                return Within(column_id, order, order.lowered(keys[0]), order.raised(keys[-1]))
            return _any_of([_compared(column_id, "=", order, key) for key in keys])
        case StartsWith(_, prefix):
            key = order.key(prefix)
            if key is None or not order.is_text:
                return IsNotNull(column_id)
            after = after_prefix(prefix)
            high = order.key(after) if after else None
            return Within(column_id, order, key, high, excludes_high=True)


def _compared(column_id: ColumnId, operator: str, order: Order, key: Any) -> Question:
    if key is None:
        return IsNotNull(column_id)
    low, high = order.lowered(key), order.raised(key)
    match operator:
        case "=":
            return Within(column_id, order, low, high)
        case "<" | "<=":
            excludes = order.is_exact and operator == "<"
            return Within(column_id, order, high=high, excludes_high=excludes)
        case ">" | ">=":
            excludes = order.is_exact and operator == ">"
            return Within(column_id, order, low=low, excludes_low=excludes)
        case "!=" if order.is_exact:
            return Differs(column_id, order, key)
    return IsNotNull(column_id)


def after_prefix(prefix: str) -> str:
    """Return the smallest text above all texts with this prefix; empty if there is none."""
    for length in range(len(prefix), 0, -1):
        code = ord(prefix[length - 1])
        following = 0xE000 if code == 0xD7FF else code + 1
        if following <= 0x10FFFF:
            return prefix[: length - 1] + chr(following)
    return ""


def may_match(asked: Question, bounds: Mapping[ColumnId, ColumnBounds]) -> bool:
    """Return whether a file with these bounds may contain a matching row."""
    match asked:
        case AllOf(parts):
            return all(may_match(part, bounds) for part in parts)
        case AnyOf(parts):
            return any(may_match(part, bounds) for part in parts)
        case Anything():
            return True
    found = bounds.get(asked.column_id)
    if found is None:
        return True
    if isinstance(asked, IsNull):
        return found.null_count != 0
    if found.null_count is not None and found.null_count == found.value_count:
        return False  # all values are NULL
    if isinstance(asked, IsNotNull):
        return True
    order = asked.order
    least, greatest = order.key(found.min_value), order.key(found.max_value)
    if isinstance(asked, Differs):
        is_one = asked.value == least == greatest and not _is_cut(order, found.max_value)
        return not is_one or (order.has_nan and found.contains_nan is not False)
    if asked.high is not None and least is not None:
        is_above = least >= asked.high if asked.excludes_high else least > asked.high
        if is_above:
            return False
    if asked.low is None or greatest is None:
        return True
    if order.has_nan and asked.high is None and found.contains_nan is not False:
        return True  # NaN is greater than every number
    if order.is_text and _is_cut(order, found.max_value) and asked.low.startswith(greatest):
        return True
    return bool(greatest > asked.low if asked.excludes_low else greatest >= asked.low)


def _is_cut(order: Order, bound: str | None) -> bool:
    return order.is_text and bound is not None and len(bound) >= LONG_TEXT


# Some writers truncate long bounds, and not all of them round the upper one up.
LONG_TEXT = 16


def matches(
    predicate: Predicate,
    types: Mapping[ColumnId, str],
    bounds: Mapping[ColumnId, ColumnBounds],
) -> bool:
    """Return whether a file with these bounds may contain a row that matches the predicate."""
    return may_match(question(predicate, types), bounds)
