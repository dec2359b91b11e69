"""Ordering of bounds: how bounds, which are stored as text, are compared for each type.

A key never orders two values wrongly, but may be coarser than the values: timestamps are compared
by the second. Text that is not valid for its type has no key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

# Possessive: digits are not tried again, which takes quadratic time and stops all other threads.
_NUMBER = re.compile(r"[-+]?([0-9]++[.]?[0-9]*+|[.][0-9]++)([eE][-+]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(rf"({_DATE.pattern})(?:[ T]([0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})(\.[0-9]+)?)?")
_UTC = re.compile(r"(\+00(:?00)?|Z)")
_TIME = re.compile(r"([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?")


class OrderKind(Enum):
    """Families of types whose bounds are compared in the same way."""

    INTEGER = "integer"  # fits a signed 64-bit integer
    BIG_INTEGER = "big integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_UTC = "timestamp in UTC"
    TIME = "time"


_NUMBERS = {OrderKind.INTEGER, OrderKind.BIG_INTEGER, OrderKind.DECIMAL, OrderKind.FLOAT}
# Limits of exact comparison in every database; values beyond them have no key.
_INTEGER_LIMITS = {OrderKind.INTEGER: 2**63, OrderKind.BIG_INTEGER: 2**127}
_COARSE = {OrderKind.FLOAT, OrderKind.TIMESTAMP, OrderKind.TIMESTAMP_UTC, OrderKind.TIME}


@dataclass(frozen=True, slots=True)
class Order:
    """Comparison of the bounds of a type.

    `slack` is the relative error of the text of a float: a float32 is often written with fewer
    digits than it has.
    """

    kind: OrderKind
    slack: Decimal | None = None

    @property
    def is_number(self) -> bool:
        """Whether keys are numbers; otherwise they are text."""
        return self.kind in _NUMBERS

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers."""
        return self.kind in _INTEGER_LIMITS

    @property
    def is_text(self) -> bool:
        """Whether values are text, so that prefixes can be compared."""
        return self.kind is OrderKind.TEXT

    @property
    def has_nan(self) -> bool:
        """Whether the type has NaN, which is greater than all numbers."""
        return self.kind is OrderKind.FLOAT

    @property
    def is_exact(self) -> bool:
        """Whether different values have different keys."""
        return self.kind not in _COARSE

    def key(self, text: str | None) -> Any:
        """Return the key of a bound for comparison; None if it has none."""
        if text is None:
            return None
        if self.is_number:
            return self._number(text)
        if self.kind is OrderKind.TEXT:
            return text if _is_storable(text) else None
        if self.kind is OrderKind.BOOLEAN:
            return text if text in {"true", "false"} else None
        return self._moment(text)

    def _number(self, text: str) -> Decimal | None:
        number = Decimal(text) if _NUMBER.fullmatch(text) else None
        if number is None or not self.is_integer:
            return number
        limit = _INTEGER_LIMITS[self.kind]
        is_whole = -limit <= number < limit and number == number.to_integral_value()
        return number if is_whole else None

    def _moment(self, text: str) -> str | None:
        match self.kind:
            case OrderKind.DATE:
                return text if _DATE.fullmatch(text) else None
            case OrderKind.TIME:
                found = _TIME.fullmatch(text)
                return found[1] if found else None
            case OrderKind.TIMESTAMP_UTC:
                zone = _UTC.search(text, 10)
                if zone is None or zone.end() != len(text):
                    return None
                text = text[: zone.start()]
        found = _TIMESTAMP.fullmatch(text)
        return f"{found[1]} {found[2] or '00:00:00'}" if found else None

    def lowered(self, key: Any) -> Any:
        """Return the smallest key that a value with this key may have been written with."""
        return key if self.slack is None else key - abs(key) * self.slack - _TINY

    def raised(self, key: Any) -> Any:
        """Return the largest key that a value with this key may have been written with."""
        return key if self.slack is None else key + abs(key) * self.slack + _TINY


_TINY = Decimal("1e-36")  # absolute slack, for floats so small that they have lost digits


def _is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


_ORDERS = {
    "float32": Order(OrderKind.FLOAT, Decimal("1e-6")),
    "float64": Order(OrderKind.FLOAT, Decimal("1e-12")),
    "boolean": Order(OrderKind.BOOLEAN),
    "date": Order(OrderKind.DATE),
    "time": Order(OrderKind.TIME),
    "timestamptz": Order(OrderKind.TIMESTAMP_UTC),
    **dict.fromkeys(("varchar", "json", "uuid"), Order(OrderKind.TEXT)),
    **dict.fromkeys(("int128", "uint64", "uint128"), Order(OrderKind.BIG_INTEGER)),
    **dict.fromkeys(
        ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), Order(OrderKind.INTEGER)
    ),
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), Order(OrderKind.TIMESTAMP)
    ),
}


def order_of(column_type: str | None) -> Order | None:
    """Return the order of a stored type; None if its bounds cannot be compared."""
    if column_type is None:
        return None
    if column_type.startswith("decimal"):
        return Order(OrderKind.DECIMAL)
    return _ORDERS.get(column_type)
