"""Labels of partition values as Spark columns: the same texts as `PartitionKey.label_of`."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.partitions import (
    IDENTITY,
    KEPT,
    LITERALLY,
    LONGEST,
    SEEN_AS_FLOAT,
    PartitionKey,
)
from forklake.model.fields import Field

_UNSEEN = r"[\p{C}\p{Zl}\p{Zp}]"  # characters that do not belong in folder names
_PARTS: dict[str, Callable[[Column], Column]] = {
    "year": F.year,
    "month": F.month,
    "day": F.dayofmonth,
    "hour": F.hour,
}


def label_column(key: PartitionKey, column: Column) -> Column:
    """Return the label of a value, as a Spark column: NULL only for NULL, and never empty."""
    if key.transform != IDENTITY:
        return _PARTS[key.transform](_in_utc(column, key.field)).cast("string")
    if key.field.type in SEEN_AS_FLOAT:
        column = column + F.lit(0.0)  # -0.0 is 0.0
    text = F.hex(column) if key.field.type == "blob" else column.cast("string")
    marked = F.when(
        (text == "") | text.startswith("__HIVE_"), F.concat(F.lit(LITERALLY), text)
    ).otherwise(text)
    begin = F.regexp_replace(F.substring(marked, 1, KEPT), _UNSEEN, "_")
    short = F.concat(begin, F.lit("~"), F.sha2(marked, 256))
    is_odd = (F.octet_length(marked) > LONGEST) | marked.rlike(_UNSEEN)
    return F.when(is_odd, short).otherwise(marked)


def _in_utc(column: Column, field: Field) -> Column:
    """Return a timestamp in UTC, independent of the time zone of the session."""
    if field.type != "timestamptz":
        return column
    seconds = F.unix_micros(column).cast("decimal(20,0)") / F.lit(1_000_000)
    zero = F.lit(0)
    return F.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + F.make_dt_interval(
        zero, zero, zero, seconds.cast("decimal(18,6)")
    )
