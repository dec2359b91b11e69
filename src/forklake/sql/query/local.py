"""Rows that are here already, as DataFrames of Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forklake.spark.engine.engine import Engine

# Types of Arrow's that Spark has no name for, and the next ones that it has.
_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.null(): pa.string(),
}


def frame_of(engine: Engine, table: pa.Table) -> DataFrame:
    """A DataFrame of these rows."""
    fitting = table.cast(pa.schema([_fitting(field) for field in table.schema]))
    return engine.spark.createDataFrame(fitting, from_arrow_schema(fitting.schema))


def _fitting(field: pa.Field) -> pa.Field:
    kind = _WIDER.get(field.type, field.type)
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", kind.tz)
    return field.with_type(kind)
