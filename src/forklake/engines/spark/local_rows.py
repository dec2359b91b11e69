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
_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.null(): pa.string(),
}

# Cache of DataFrames of one row: to send rows to Java takes longer than most statements, and most
# statements return the same few rows.
_kept: WeakKeyDictionary[Engine, dict[tuple[pa.Schema, str], DataFrame]] = WeakKeyDictionary()
_MOST_KEPT = 100


def frame_of(engine: Engine, table: pa.Table) -> DataFrame:
    """Return a DataFrame of local rows."""
    fitting = table.cast(pa.schema([_widen_field(field) for field in table.schema]))
    if fitting.num_rows != 1:
        return _create_frame(engine, fitting)
    kept = _kept.setdefault(engine, {})
    key = fitting.schema, repr(fitting.to_pylist())
    if key not in kept:
        if len(kept) == _MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = _create_frame(engine, fitting)
    return kept[key]


def _create_frame(engine: Engine, table: pa.Table) -> DataFrame:
    return engine.spark.createDataFrame(table, from_arrow_schema(table.schema))


def _widen_field(field: pa.Field) -> pa.Field:
    kind = _WIDER.get(field.type, field.type)
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", kind.tz)
    return field.with_type(kind)
