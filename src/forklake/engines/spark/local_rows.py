"""Conversion of local rows to Spark DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forklake.engines.spark.engine import Engine

# Arrow types that Spark does not have, and the next wider ones that it has.
_WIDER_TYPES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.null(): pa.string(),
}

# Cache of DataFrames of one row: to send rows to Java takes longer than most statements, and most
# statements return the same few rows.
_frame_cache: WeakKeyDictionary[Engine, dict[tuple[pa.Schema, str], DataFrame]] = (
    WeakKeyDictionary()
)
_MAX_CACHED = 100


def create_dataframe(engine: Engine, table: pa.Table) -> DataFrame:
    """Return a DataFrame of local rows."""
    widened = table.cast(pa.schema([_widen_field(field) for field in table.schema]))
    if widened.num_rows != 1:
        return _send_to_spark(engine, widened)
    cache = _frame_cache.setdefault(engine, {})
    key = widened.schema, repr(widened.to_pylist())
    if key not in cache:
        if len(cache) == _MAX_CACHED:
            del cache[next(iter(cache))]
        cache[key] = _send_to_spark(engine, widened)
    return cache[key]


def _send_to_spark(engine: Engine, table: pa.Table) -> DataFrame:
    return engine.spark.createDataFrame(table, from_arrow_schema(table.schema))


def _widen_field(field: pa.Field) -> pa.Field:
    kind = _WIDER_TYPES.get(field.type, field.type)
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", kind.tz)
    return field.with_type(kind)
