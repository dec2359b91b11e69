"""Text form of values, used for bounds, partition values and literal defaults.

| type                           | text                                             |
|--------------------------------|--------------------------------------------------|
| boolean                        | `true`, `false`                                  |
| integers                       | `-42`                                            |
| float32, float64               | `1.5`, `1e+300`, `nan`, `inf`, `-inf`            |
| decimal(p,s)                   | `-1.50`, always with s digits, never an exponent |
| date                           | `2024-01-31`                                     |
| time                           | `12:34:56`, `12:34:56.5`                         |
| timestamp, timestamp_s, _ms    | `2024-01-31 12:34:56`, `2024-01-31 12:34:56.5`   |
| timestamptz                    | `2024-01-31 12:34:56.5+00`, always UTC           |
| varchar, json                  | unchanged                                        |
| uuid                           | lower case; one that is stored as text unchanged |

Texts of one type, compared by `comparable`, have the order of their values. Fractions of a second
have no trailing zeros: a shorter text is then a prefix of a later one, or ends in `+`, which sorts
before `.` and the digits. Other values have no text form: blobs, nested values, and years beyond
1 to 9999, which Python dates do not support.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any
from uuid import UUID

from forklake.errors import InvalidInput, Unsupported

INTEGER_RANGES: dict[str, tuple[int, int]] = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for bits in (8, 16, 32, 64, 128)
    for sign in ("", "u")
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
# Possessive: digits are not tried again, which takes quadratic time and stops all other threads.
_NUMBER = re.compile(r"[+-]?([0-9]++\.?[0-9]*+|\.[0-9]++)(e[+-]?[0-9]+)?", re.IGNORECASE)
_SPECIAL_FLOAT = re.compile(r"nan|[+-]?inf(inity)?", re.IGNORECASE)
_BLOB = re.compile(rb"\\x([0-9A-Fa-f]{2})|([^\\\x80-\xff])")
_TIMESTAMPS = ("timestamp", "timestamp_s", "timestamp_ms", "timestamptz")
_TRUTH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def decimal_digits(column_type: str) -> tuple[int, int]:
    """Return the precision and scale of a stored decimal type."""
    match = _DECIMAL.fullmatch(column_type)
    if match is None:
        raise InvalidInput(
            f"{column_type!r} is not the stored name of a decimal type.",
            remedy="Write decimal(p,s).",
        )
    return int(match[1]), int(match[2])


# Value to text


def to_text(column_type: str, value: Any) -> str | None:
    """Return the text of a value; None if the type has no text form or the value does not fit."""
    write = _WRITERS.get("decimal" if column_type.startswith("decimal") else column_type)
    return None if write is None else write(column_type, value)


def has_text(column_type: str) -> bool:
    """Return whether values of a type have a text form."""
    return column_type.startswith("decimal") or column_type in _WRITERS


def has_date(column_type: str) -> bool:
    """Return whether values of a type have a year, a month and a day."""
    return column_type == "date" or column_type in _TIMESTAMPS


def _boolean_text(_: str, value: Any) -> str | None:
    return ("true" if value else "false") if isinstance(value, bool) else None


def _integer_text(_: str, value: Any) -> str | None:
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _float_text(_: str, value: Any) -> str | None:
    if not isinstance(value, float | int) or isinstance(value, bool):
        return None
    return repr(float(value) + 0.0)  # -0.0 becomes 0.0, since they are equal


def _decimal_text(column_type: str, value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, Decimal | int):
        return None
    try:
        return f"{_exact_decimal(column_type, Decimal(value)):f}"
    except ValueError:
        return None


def _date_text(_: str, value: Any) -> str | None:
    return value.isoformat() if type(value) is date else None


def _time_text(_: str, value: Any) -> str | None:
    return _short_fraction(value.isoformat()) if type(value) is time else None


def _timestamp_text(column_type: str, value: Any) -> str | None:
    if type(value) is date:
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - no zone is meant
    if type(value) is not datetime:
        return None
    if value.tzinfo is not None:
        try:
            value = value.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            return None
    return _short_fraction(value.isoformat(" ")) + ("+00" if column_type == "timestamptz" else "")


def _short_fraction(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def _string_text(_: str, value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _uuid_text(_: str, value: Any) -> str | None:
    if isinstance(value, bytes):
        return str(UUID(bytes=value)) if len(value) == 16 else None
    return str(value) if isinstance(value, str | UUID) else None


_WRITERS: dict[str, Callable[[str, Any], str | None]] = {
    **dict.fromkeys(INTEGER_RANGES, _integer_text),
    **dict.fromkeys(("float32", "float64"), _float_text),
    **dict.fromkeys(_TIMESTAMPS, _timestamp_text),
    **dict.fromkeys(("varchar", "json"), _string_text),
    "boolean": _boolean_text,
    "decimal": _decimal_text,
    "date": _date_text,
    "time": _time_text,
    "uuid": _uuid_text,
}


# Text to value


def from_text(column_type: str, text: str) -> Any:
    """Return the value that a text represents; raise InvalidInput if it does not fit the type."""
    read = _READERS.get("decimal" if column_type.startswith("decimal") else column_type)
    if read is None:
        raise Unsupported(
            f"A value of type {column_type} has no text form.",
            remedy="Use an expression, or write the value to the table.",
        )
    try:
        return read(column_type, text)
    except (ValueError, ArithmeticError) as reason:
        detail = f": {reason}" if isinstance(reason, _Misfit) else ""
        raise InvalidInput(
            f"The text {text[:100]!r} is not a value of type {column_type}{detail}.",
            remedy="Use the text form of this type, for example 2024-01-31 for a date.",
        ) from None


class _Misfit(ValueError):
    """A value of the right kind that the type cannot hold."""


def _matched(pattern: re.Pattern[str], text: str) -> str:
    stripped = text.strip()
    if pattern.fullmatch(stripped) is None:
        raise ValueError(text)
    return stripped


def _boolean(_: str, text: str) -> bool:
    try:
        return _TRUTH[text.strip().lower()]
    except KeyError:
        raise ValueError(text) from None


def _integer(column_type: str, text: str) -> int:
    value = int(_matched(_INTEGER, text))
    low, high = INTEGER_RANGES[column_type]
    if not low <= value <= high:
        raise _Misfit(f"the type holds {low} to {high}")
    return value


def _float(column_type: str, text: str) -> float:
    if _SPECIAL_FLOAT.fullmatch(text.strip()):
        return float(text)
    value = float(_matched(_NUMBER, text))
    if column_type == "float32":
        value = float(struct.unpack("f", struct.pack("f", value))[0])
    if math.isinf(value):
        raise _Misfit("the number is too large")
    return value


def _decimal(column_type: str, text: str) -> Decimal:
    return _exact_decimal(column_type, Decimal(_matched(_NUMBER, text)))


def _exact_decimal(column_type: str, value: Decimal) -> Decimal:
    """Return a value with the scale of its type; raise ValueError if digits would be lost."""
    precision, scale = decimal_digits(column_type)
    if not value.is_finite():
        raise ValueError(value)
    exact = Context(prec=precision, traps=[Inexact, InvalidOperation])
    try:
        return value.quantize(Decimal(1).scaleb(-scale), context=exact)
    except (Inexact, InvalidOperation):
        raise _Misfit(
            f"the type holds {precision - scale} digits before the point and {scale} after it"
        ) from None


def _timestamp(column_type: str, text: str) -> datetime:
    value = datetime.fromisoformat(text.strip())
    if column_type == "timestamptz":
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if value.tzinfo is not None:
        raise _Misfit("the type has no time zone")
    return value


def _time(_: str, text: str) -> time:
    value = time.fromisoformat(text.strip())
    if value.tzinfo is not None:
        raise _Misfit("the type has no time zone")
    return value


def _blob(_: str, text: str) -> bytes:
    """Decode the SQL text of a blob: ASCII, with `\\xAA` for all other bytes."""
    data, end, parts = text.encode(), 0, []
    for part in _BLOB.finditer(data):
        if part.start() != end:
            break
        parts.append(bytes.fromhex(part[1].decode()) if part[1] else part[2])
        end = part.end()
    if end != len(data):
        raise _Misfit("bytes beyond ASCII must be written as \\xAA")
    return b"".join(parts)


_READERS: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(INTEGER_RANGES, _integer),
    **dict.fromkeys(("float32", "float64"), _float),
    **dict.fromkeys(_TIMESTAMPS, _timestamp),
    **dict.fromkeys(("varchar", "json"), lambda _, text: text),
    "boolean": _boolean,
    "decimal": _decimal,
    "date": lambda _, text: date.fromisoformat(text.strip()),
    "time": _time,
    "uuid": lambda _, text: str(UUID(text.strip())),
    "blob": _blob,
}
