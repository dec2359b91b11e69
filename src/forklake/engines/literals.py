"""Literals of Spark SQL as Python values."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

Unknown = object()  # not a literal, or one whose value is not certain

INTEGERS = {
    exp.DType.TINYINT: "int8",
    exp.DType.SMALLINT: "int16",
    exp.DType.INT: "int32",
    exp.DType.BIGINT: "int64",
}
INSTANTS = frozenset({exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class Literals:
    """Parser of literals. Timestamps with a time zone need `zone`; None leaves them Unknown."""

    zone: tzinfo | None

    def value(self, node: exp.Expr) -> Any:
        """Return the value of a literal; None for NULL, Unknown for any other expression."""
        match node:
            case exp.Paren():
                return self.value(node.this)
            case exp.Null():
                return None
            case exp.Boolean():
                return bool(node.this)
            case exp.Literal(is_string=True):
                return str(node.this)
            case exp.Literal():
                return _parse_number(str(node.this))
            case exp.Neg():
                value = self.value(node.this)
                return -value if is_number(value) else Unknown
            case exp.Cast(this=exp.Literal() | exp.Neg()):
                return self._cast_value(self.value(node.this), node.to)
        return Unknown

    def _cast_value(self, value: Any, target: exp.DataType) -> Any:
        if value is Unknown or value is None:
            return value
        kind, text = target.this, str(value)
        if kind in INTEGERS:
            return read(int, text)
        if kind is exp.DType.DOUBLE:
            return read(float, text)
        if (
            kind is exp.DType.FLOAT
        ):  # as a double, of which a column may be that files hold as floats
            return read(lambda number: c_float(float(number)).value, text)
        if kind is exp.DType.DECIMAL:
            return read(Decimal, text)
        if kind is exp.DType.DATE:
            return read(date.fromisoformat, text)
        if kind is exp.DType.TIMESTAMPNTZ:
            value = _parse_timestamp(text)
            return value if isinstance(value, datetime) and value.tzinfo is None else Unknown
        if kind in INSTANTS:
            value = _parse_timestamp(text)
            if not isinstance(value, datetime) or value.tzinfo is not None:
                return value
            return Unknown if self.zone is None else value.replace(tzinfo=self.zone)
        return value if kind in (exp.DType.TEXT, exp.DType.VARCHAR) else Unknown

    def moment(self, column_type: str, value: Any) -> Any:
        """Return a value as a timestamp column stores it: with or without a time zone."""
        if isinstance(value, str):
            value = _parse_timestamp(value)
        elif type(value) is date:
            value = datetime(value.year, value.month, value.day)  # noqa: DTZ001
        if not isinstance(value, datetime):
            return Unknown
        if (value.tzinfo is None) == (column_type != "timestamptz"):
            return value
        if self.zone is not UTC:  # local times can be ambiguous or missing
            return Unknown
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC).replace(tzinfo=None)


def is_number(value: Any) -> bool:
    """Return whether a value is a number; booleans are not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _parse_timestamp(text: str) -> Any:
    return read(datetime.fromisoformat, text)


def read(parse: Callable[[str], Any], text: str) -> Any:
    """Return the parsed text, or Unknown if it is not valid."""
    try:
        return parse(text.strip())
    except (ValueError, InvalidOperation):
        return Unknown


def _parse_number(text: str) -> Any:
    if "e" in text.lower():
        return read(float, text)
    return read(int if text.isdigit() else Decimal, text)
