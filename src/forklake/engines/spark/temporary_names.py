"""Temporary names in Spark for the rows of a query, while it is analyzed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from forklake.engines.spark.local_rows import create_dataframe

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

# What a name can stand for. A schema stands for a table without rows, which is enough to find the
# columns of a query.
Rows: TypeAlias = DataFrame | pa.Table | StructType

_numbers = count()
_view_classes: WeakKeyDictionary[SparkContext, Any] = WeakKeyDictionary()


def column_names(rows: Rows) -> list[str]:
    """Return the names of the columns."""
    if isinstance(rows, StructType):
        return rows.names
    return rows.columns if isinstance(rows, DataFrame) else rows.column_names


def register_rows(engine: Engine, rows: Rows) -> str:
    """Register rows under a new name, and return the name."""
    name = f"__forklake_{next(_numbers)}"
    if isinstance(rows, pa.Table):
        rows = create_dataframe(engine, rows)
    if engine.is_native:
        _register_view(engine, name, rows)
    else:
        frame = engine.spark.createDataFrame([], rows) if isinstance(rows, StructType) else rows
        frame.createOrReplaceTempView(name)
    return name


def _register_view(engine: Engine, name: str, rows: DataFrame | StructType) -> None:
    spark: Any = engine.spark
    if spark.sparkContext not in _view_classes:  # the lookup of a class takes longer than a call
        _view_classes[spark.sparkContext] = spark._jvm.forklake.TempViews
    views = _view_classes[spark.sparkContext]
    if isinstance(rows, StructType):
        views.putEmpty(spark._jsparkSession, name, rows.json())
    else:
        frame: Any = rows
        views.put(spark._jsparkSession, name, frame._jdf)


def unregister_rows(engine: Engine, names: Iterable[str]) -> None:
    """Remove names from Spark, once the queries with them are analyzed."""
    # A plan of classic Spark contains the rows; Spark Connect resolves the names later.
    if engine.is_native:
        for name in names:
            engine.spark.catalog.dropTempView(name)
