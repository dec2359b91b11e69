"""Casts of rows to write by Spark functions alone, for Spark Connect, whose JVM is out of reach."""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)

_UUID = "(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
# Types whose text Spark writes differently from DuckDB, or as other bytes.
_WITHOUT_TEXT = (
    BinaryType, DoubleType, FloatType, TimestampType, StructType, ArrayType, MapType,
)  # fmt: skip
_INTEGERS = re.compile(r"u?int\d+")
_SECOND_DIGITS = {"timestamp_s": 1_000_000, "timestamp_ms": 1_000}


def _below(bits: int) -> Callable[[Column], Column]:
    return lambda value: value.between(0, F.lit(str(2**bits - 1)).cast("decimal(20,0)"))


# Types with fewer values than the Spark type that holds them: tests for valid values.
_FITS: dict[str, Callable[[Column], Column]] = {
    "uint8": _below(8),
    "uint16": _below(16),
    "uint32": _below(32),
    "uint64": _below(64),
    "uint128": lambda value: value >= 0,
    "uuid": lambda value: value.rlike(_UUID),
    "json": lambda value: F.try_parse_json(value).isNotNull(),
}


def try_cast(value: Column, source: DataType, column_type: str, target: DataType) -> Column:
    """Return a value cast to a column type, NULL where that fails.

    Raises LookupError if only our Java classes can do the cast.
    """
    if column_type == "varchar" and isinstance(source, _WITHOUT_TEXT):
        raise LookupError(column_type)
    made = _convert_value(value, source, column_type, target)
    if isinstance(target, FloatType) and isinstance(source, (DoubleType, DecimalType)):
        is_lost = (F.abs(made) == F.lit(float("inf"))) & (F.abs(value) != F.lit(float("inf")))
        made = F.when(~is_lost, made)
    fits = _FITS.get(column_type)
    return made if fits is None else F.when(fits(made), made)


def _convert_value(value: Column, source: DataType, column_type: str, target: DataType) -> Column:
    """Return the value in another type, NULL where that fails; fractions are rounded, not cut."""
    if column_type in _SECOND_DIGITS:
        return _round_timestamp(value.try_cast(target), _SECOND_DIGITS[column_type])
    if column_type == "uuid":
        return F.lower(value.try_cast(target))
    if source == target:
        return value
    if _INTEGERS.fullmatch(column_type):
        if isinstance(source, StringType) and isinstance(target, IntegralType):
            value, source = value.try_cast("decimal(38,9)"), DecimalType(38, 9)
        if isinstance(source, DecimalType):
            value = F.round(value, 0)
        elif isinstance(source, FractionalType):
            value = F.rint(value)
    return value.try_cast(target)


def _round_timestamp(value: Column, size: int) -> Column:
    """Return a timestamp rounded to a multiple of `size` microseconds, halves away from 1970."""
    micros = F.unix_micros(value.cast("timestamp"))
    half = F.when(micros < 0, -size // 2).otherwise(size // 2)
    below = (micros + half) - (micros + half) % size
    return F.timestamp_micros(below).cast("timestamp_ntz")
