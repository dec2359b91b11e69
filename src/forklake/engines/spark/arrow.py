"""Rows of a DataFrame as Arrow, including interval types that Spark cannot export."""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import CalendarIntervalType, DataType, YearMonthIntervalType

from forklake.engines.spark.error_translation import translate_spark_errors
from forklake.errors import Unsupported

_MONTHS = "12 * extract(YEAR FROM {0}) + extract(MONTH FROM {0})"
_DAYS = "extract(DAY FROM {0})"
_SECONDS = (
    "3600 * extract(HOUR FROM {0}) + 60 * extract(MINUTE FROM {0}) + extract(SECOND FROM {0})"
)


def to_arrow(rows: DataFrame) -> pa.Table:
    """Return all rows; intervals with months become Arrow month_day_nano intervals."""
    with translate_spark_errors():
        return _convert_rows(rows)


def _convert_rows(rows: DataFrame) -> pa.Table:
    kinds = [field.dataType for field in rows.schema.fields]
    if not any(map(_is_calendar, kinds)):
        return _fetch(rows)
    names = rows.columns
    numbered = rows.toDF(*(f"c{at}" for at in range(len(kinds))))
    columns = [
        column for at, kind in enumerate(kinds) for column in _split_interval(f"c{at}", kind)
    ]
    fetched = _fetch(numbered.select(*columns))
    arrays = [
        _join_intervals(fetched, f"c{at}") if _is_calendar(kind) else fetched.column(f"c{at}")
        for at, kind in enumerate(kinds)
    ]
    return pa.table(arrays, names=names)


def _is_calendar(kind: DataType) -> bool:
    return isinstance(kind, YearMonthIntervalType | CalendarIntervalType)


def _fetch(rows: DataFrame) -> pa.Table:
    try:
        return rows.toArrow()
    except PySparkException as reason:
        if reason.getCondition() != "UNSUPPORTED_DATA_TYPE_FOR_ARROW_CONVERSION":
            raise
        raise Unsupported(
            f"A column of the result has a type that Arrow cannot represent: {reason}.",
            remedy="Cast it to VARCHAR, or take its parts with extract.",
        ) from None


def _split_interval(name: str, kind: DataType) -> list[Column]:
    """Return a column, or the columns of months, days and seconds of an interval."""
    if not _is_calendar(kind):
        return [F.col(name)]
    is_mixed = isinstance(kind, CalendarIntervalType)
    parts = (_MONTHS, _DAYS if is_mixed else "0", _SECONDS if is_mixed else "0")
    types = ("int", "int", "decimal(28, 6)")
    return [
        F.expr(f"if({name} is null, null, cast({part.format(name)} as {type}))").alias(
            f"{name}_{at}"
        )
        for at, (part, type) in enumerate(zip(parts, types, strict=True))
    ]


def _join_intervals(fetched: pa.Table, name: str) -> pa.Array:
    parts = zip(*(fetched.column(f"{name}_{at}").to_pylist() for at in range(3)), strict=True)
    values = [
        None if months is None else (months, days, int(seconds * 1_000_000_000))
        for months, days, seconds in parts
    ]
    return pa.array(values, pa.month_day_nano_interval())
