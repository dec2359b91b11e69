"""Conversion between file statistics of a Delta log, which are JSON text, and column bounds.

A bound is either true for every row of a file, or missing. Statistics of other writers are inexact,
so their bounds are widened by the largest possible error:

| bounds of           | error, and how it is handled                                    |
|---------------------|-----------------------------------------------------------------|
| long texts          | may be cut: an upper bound becomes greater than all extensions  |
| timestamps          | usually cut to milliseconds: 999 µs are added to upper bounds   |
| zoned timestamps    | offsets are written without seconds: widened by a minute        |
| long decimals       | some writers convert them to doubles: widened by a part in 2^51 |

Statistics that are missing or cannot be parsed give no bounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from forklake.files.bounds import high_text, low_text
from forklake.model.children import FileColumnStatistics
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.orders import OrderKind, order_of
from forklake.model.predicates import LONG_TEXT, after_prefix
from forklake.model.values import INTEGER_RANGES, decimal_digits, from_text

_MIN, _MAX, _NULLS = "minValues", "maxValues", "nullCount"
# Characters that writers append to an upper bound that they cut.
_TIE_BREAKERS = "\ufffd\U0010ffff"
_TIE_BREAKER = "\U0010ffff"
# Old writers used the Julian calendar up to this year: their statistics and files disagree.
_LAST_OF_OLD_CALENDAR = 1582
_LONGEST = 32  # maximum number of characters of a text in a log
_HALF_WRITTEN = timedelta(microseconds=999)
_SECONDS_OF_ZONE = timedelta(minutes=1)
_MILLISECOND = timedelta(milliseconds=1)
_ERROR_OF_DOUBLE = Decimal(2) ** -51
_MOST_DIGITS = 38  # maximum precision of a decimal
_WIDE = Context(prec=2 * _MOST_DIGITS)
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=float)


class Leaf(NamedTuple):
    """A column that can have statistics."""

    column_id: ColumnId
    type: str


Path = tuple[str, ...]
Leaves = Mapping[Path, Leaf]
Bounds = ColumnBounds | FileColumnStatistics  # of a new file, or of an existing one


def statistics_leaves(fields: Iterable[Field]) -> dict[Path, Leaf]:
    """Return the columns that can have statistics, by path of physical names.

    Lists, maps and their contents have none.
    """
    found: dict[Path, Leaf] = {}
    for field in fields:
        name = (field.physical_name,)
        if field.type == "struct":
            inside = statistics_leaves(field.fields)
            found |= {name + path: leaf for path, leaf in inside.items()}
        elif not field.fields:
            found[name] = Leaf(field.column_id, field.type)
    return found


# From the log


def parse_statistics(
    text: str | None, leaves: Leaves
) -> tuple[int | None, tuple[ColumnBounds, ...]]:
    """Return the row count of a file, including deleted rows, and the bounds of its columns."""
    try:
        body = _DECODER.decode(text or "{}")
    except (ValueError, RecursionError, ArithmeticError):
        return None, ()
    rows = _parse_count(_value_at(body, ("numRecords",)))
    is_tight = _value_at(body, ("tightBounds",)) is not False
    parts = [_value_at(body, (key,)) for key in (_MIN, _MAX, _NULLS)]
    values = ((leaf, [_value_at(part, path) for part in parts]) for path, leaf in leaves.items())
    return rows, tuple(
        ColumnBounds(
            leaf.column_id,
            value_count=rows,
            null_count=_parse_null_count(nulls, rows, is_tight),
            min_value=_parse_low(leaf.type, low),
            max_value=_parse_high(leaf.type, high),
            contains_nan=_has_nan_bound(leaf.type, low, high),
        )
        for leaf, (low, high, nulls) in values
        if low is not None or high is not None or nulls is not None
    )


def _value_at(body: Any, path: Path) -> Any:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _parse_count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _parse_null_count(value: Any, rows: int | None, is_tight: bool) -> int | None:
    """Return the null count. If rows were deleted, only "all" and "none" are exact."""
    nulls = _parse_count(value)
    if nulls is None or (rows is not None and nulls > rows):
        return None
    return nulls if is_tight or nulls in (0, rows) else None


def _has_nan_bound(column_type: str, low: Any, high: Any) -> bool | None:
    """Return True if a bound is NaN, otherwise None: writers may leave NaN out of the bounds."""
    if not column_type.startswith("float"):
        return None
    return "nan" in (str(low).lower(), str(high).lower()) or None


def _parse_low(column_type: str, value: Any) -> str | None:
    bound = _parse_value(column_type, value)
    if isinstance(bound, str):
        bound = _cut_at_surrogate(bound)
    elif isinstance(bound, datetime):
        bound = _shift(bound, -_zone_error(bound))
    elif isinstance(bound, Decimal):
        bound = _widen(column_type, bound, ROUND_FLOOR)
    return None if bound is None else low_text(column_type, bound)


def _parse_high(column_type: str, value: Any) -> str | None:
    bound = _parse_value(column_type, value)
    if isinstance(bound, str):
        bound = _bound_above_cut(bound)
    elif isinstance(bound, datetime):
        bound = _shift(bound, _zone_error(bound) + _HALF_WRITTEN)
    elif isinstance(bound, Decimal):
        bound = _widen(column_type, bound, ROUND_CEILING)
    return None if bound is None else high_text(column_type, bound)


def _parse_value(column_type: str, value: Any) -> Any:
    """Return a JSON value as a value of the column type, or None if it is invalid."""
    if isinstance(value, bool) != (column_type == "boolean"):
        return None
    read = _READERS.get("decimal" if column_type.startswith("decimal") else column_type)
    try:
        return None if read is None else read(value)
    except (ValueError, TypeError, ArithmeticError):
        return None


def _parse_integer(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _parse_float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) else None


def _parse_decimal(value: Any) -> Decimal | None:
    number = Decimal(value) if isinstance(value, int | Decimal) else None
    return number if number is not None and number.adjusted() < _MOST_DIGITS else None


def _parse_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _parse_date(value: Any) -> date | None:
    at = date.fromisoformat(value)
    return at if at.year > _LAST_OF_OLD_CALENDAR else None


def _parse_instant(value: Any) -> datetime | None:
    at = datetime.fromisoformat(value)
    return at if at.tzinfo is not None and at.year > _LAST_OF_OLD_CALENDAR else None


def _parse_wall_clock(value: Any) -> datetime | None:
    at = datetime.fromisoformat(value)
    is_certain = not at.utcoffset() and at.year > _LAST_OF_OLD_CALENDAR
    return at.replace(tzinfo=None) if is_certain else None


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(INTEGER_RANGES, _parse_integer),
    **dict.fromkeys(("float32", "float64"), _parse_float),
    "decimal": _parse_decimal,
    "boolean": lambda value: value,
    "varchar": _parse_text,
    "date": _parse_date,
    "timestamp": _parse_wall_clock,
    "timestamptz": _parse_instant,
}


def _shift(at: datetime, by: timedelta) -> datetime | None:
    try:
        return at + by
    except OverflowError:
        return None


def _zone_error(at: datetime) -> timedelta:
    return _SECONDS_OF_ZONE if at.utcoffset() else timedelta()


def _widen(column_type: str, value: Decimal, rounding: str) -> Decimal:
    """Return the value, widened if a double could stand for several decimals of its type."""
    unit = Decimal(1).scaleb(-decimal_digits(column_type)[1])
    error = abs(value) * _ERROR_OF_DOUBLE
    if error * 2 < unit:
        return value
    wide = _WIDE.add(value, error if rounding == ROUND_CEILING else -error)
    return wide.quantize(unit, rounding, _WIDE)


def _cut_at_surrogate(text: str) -> str:
    """Return the text before the first surrogate: a cut may have split a character."""
    for position, sign in enumerate(text):
        if "\ud800" <= sign <= "\udfff":
            return text[:position]
    return text


def _bound_above_cut(text: str) -> str | None:
    """Return the text, or an upper bound of all texts that begin with it if it was cut.

    A Java writer may have cut a character in half, which is then written as `?`. It compares texts
    by UTF-16 units, so its appended character may not be greater than characters beyond U+FFFF.
    """
    whole = _cut_at_surrogate(text)
    kept = whole.rstrip(_TIE_BREAKERS)
    if kept == text:
        return text
    return after_prefix(kept.removesuffix("?")) or None


# To the log


def format_statistics(
    num_records: int, bounds: Iterable[Bounds], leaves: Leaves, *, is_tight: bool
) -> str:
    """Return the statistics of a file as JSON text.

    Args:
        leaves: the columns that are in the file.
        is_tight: whether all bounds are values of the file, and no row of it is deleted.
    """
    known_bounds = {one.column_id: one for one in bounds}
    columns = {
        path: (kind, known_bounds[one])
        for path, (one, kind) in leaves.items()
        if one in known_bounds
    }
    body = {
        "numRecords": str(num_records),
        _MIN: _nest((path, _format_low(*one)) for path, one in columns.items()),
        _MAX: _nest((path, _format_high(*one)) for path, one in columns.items()),
        _NULLS: _nest((path, _format_nulls(*one)) for path, one in columns.items()),
        "tightBounds": "true" if is_tight else "false",
    }
    return _join_json(body)


def _nest(values: Iterable[tuple[Path, str | None]]) -> dict[str, Any]:
    """Nest values by path into objects, without missing values."""
    found: dict[str, Any] = {}
    for path, text in values:
        if text is not None:
            inside = found
            for name in path[:-1]:
                inside = inside.setdefault(name, {})
            inside[path[-1]] = text
    return found


def _format_low(column_type: str, bounds: Bounds) -> str | None:
    return format_bound(column_type, bounds.min_value, is_upper=False)


def _format_high(column_type: str, bounds: Bounds) -> str | None:
    # NaN is greater than every number: an upper bound would be wrong.
    may_be_nan = column_type.startswith("float") and bounds.contains_nan is not False
    return None if may_be_nan else format_bound(column_type, bounds.max_value, is_upper=True)


def _format_nulls(_: str, bounds: Bounds) -> str | None:
    return None if bounds.null_count is None else str(bounds.null_count)


def _join_json(body: Any) -> str:
    """Serialize objects whose values are JSON text already, so that decimals keep all digits."""
    if isinstance(body, str):
        return body
    return (
        "{"
        + ",".join(f"{quote_name(key)}:{_join_json(value)}" for key, value in body.items())
        + "}"
    )


@lru_cache(maxsize=4096)
def quote_name(text: str) -> str:
    """Return the name of a column as JSON."""
    return _quote(text)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def format_bound(column_type: str, text: str | None, *, is_upper: bool) -> str | None:
    """Return a bound as JSON, or None for types that have no bounds in Delta."""
    order = order_of(column_type)
    key = None if order is None else order.key(text)
    if text is None or order is None or key is None:
        return None
    if order.is_number:
        return str(key)
    if order.is_text:
        return _format_text(text, is_upper)
    if order.kind is OrderKind.DATE:
        return _quote(text)
    is_moment = order.kind in (OrderKind.TIMESTAMP, OrderKind.TIMESTAMP_UTC)
    return _format_timestamp(column_type, text, is_upper) if is_moment else None


def _format_text(text: str, is_upper: bool) -> str | None:
    """Return the first characters of a bound. A long upper bound may have been cut before."""
    if not is_upper or len(text) < LONG_TEXT:
        return _quote(text[:_LONGEST])
    is_above = not text[_LONGEST:].startswith(_TIE_BREAKER)
    return _quote(text[:_LONGEST] + _TIE_BREAKER) if is_above else None


def _format_timestamp(column_type: str, text: str, is_upper: bool) -> str | None:
    at = from_text(column_type, text).replace(tzinfo=None)
    cut = at.replace(microsecond=at.microsecond // 1000 * 1000)
    whole = _shift(cut, _MILLISECOND) if is_upper and cut != at else cut
    zone = "Z" if column_type == "timestamptz" else ""
    return None if whole is None else _quote(whole.isoformat(timespec="milliseconds") + zone)
