"""Names of ours in Spark, for the rows that a query is about while it is read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from forklake.sql.query.local import frame_of

if TYPE_CHECKING:
    from forklake.spark.engine.engine import Engine

# What a name can stand for. A schema is a table without rows: whoever only wants to know what a
# query shows needs no more.
Rows: TypeAlias = DataFrame | pa.Table | StructType

_numbers = count()
_found: WeakKeyDictionary[SparkContext, Any] = WeakKeyDictionary()


def columns_of(rows: Rows) -> list[str]:
    """The names of the columns."""
    if isinstance(rows, StructType):
        return rows.names
    return rows.columns if isinstance(rows, DataFrame) else rows.column_names


def register(engine: Engine, rows: Rows) -> str:
    """A new name that means these rows."""
    name = f"__forklake_{next(_numbers)}"
    if isinstance(rows, pa.Table):
        rows = frame_of(engine, rows)
    if engine.is_native:
        _put(engine, name, rows)
    else:
        frame = engine.spark.createDataFrame([], rows) if isinstance(rows, StructType) else rows
        frame.createOrReplaceTempView(name)
    return name


def _put(engine: Engine, name: str, rows: DataFrame | StructType) -> None:
    spark: Any = engine.spark
    if spark.sparkContext not in _found:  # to find a class takes longer than to call it
        _found[spark.sparkContext] = spark._jvm.forklake.TempViews
    views = _found[spark.sparkContext]
    if isinstance(rows, StructType):
        views.putEmpty(spark._jsparkSession, name, rows.json())
    else:
        given: Any = rows
        views.put(spark._jsparkSession, name, given._jdf)


def forget(engine: Engine, names: Iterable[str]) -> None:
    """Take names out of Spark, once the queries with them are read."""
    # A plan of classic Spark has what the names stood for; one of Connect looks them up later.
    if engine.is_native:
        for name in names:
            engine.spark.catalog.dropTempView(name)
