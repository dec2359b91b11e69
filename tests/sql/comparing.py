"""Results of DuckDB and of Spark in a form that can be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

Row = tuple[Any, ...]


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of a table as plain values."""
    columns = [[plain(_python_value(one)) for one in column] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _python_value(scalar: pa.Scalar) -> Any:
    """Return the value in Python: structs as tuples, dates unknown to Python as numbers."""
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.StructScalar):
        return ("struct", *(_python_value(scalar[n]) for n in range(scalar.type.num_fields)))
    if isinstance(scalar, pa.ListScalar):
        return ("list", *(_python_value(one) for one in scalar.values))
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return scalar.value


def plain(value: Any) -> Any:
    """Return a value without irrelevant differences of type."""
    match value:
        case bool() | None | str():
            return value
        case int():
            return Decimal(value)
        case float() | Decimal():
            return value
        case dict():
            return ("struct", *(plain(one) for one in value.values()))
        case list():
            return ("list", *(plain(one) for one in value))
        case tuple() if type(value).__name__ == "MonthDayNano":
            return (value[0], timedelta(days=value[1], microseconds=value[2] / 1000))
        case tuple():
            return tuple(plain(one) for one in value)
        case timedelta():
            return (0, value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
        case UUID():
            return str(value)
        case bytes() | datetime() | date() | time():
            return value
    raise TypeError(type(value).__name__)


def same(left: Any, right: Any) -> bool:
    """Return whether two plain values are equal, except for the last digits of fractions."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float | Decimal) and isinstance(right, float | Decimal):
        if isinstance(left, Decimal) and isinstance(right, Decimal):
            return left == right
        a, b = float(left), float(right)
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)
    return type(left) is type(right) and bool(left == right)


def same_rows(left: Sequence[Row], right: Sequence[Row], *, in_order: bool) -> bool:
    """Return whether two results are equal, in order or as multisets."""
    if not in_order:
        left, right = sorted(left, key=_key), sorted(right, key=_key)
    return len(left) == len(right) and all(map(same, left, right))


def _key(row: Row) -> str:
    return repr(tuple(_rounded(value) for value in row))


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_rounded(one) for one in value)
    if isinstance(value, float | Decimal):
        return f"{float(value):.6e}"
    return value
