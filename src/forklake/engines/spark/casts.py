"""Casts with the semantics of DuckDB for rows to write, registered in Spark."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from weakref import WeakSet

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.spark import native
from forklake.engines.spark.cast_templates import CASTS
from forklake.engines.spark.choices import PREFIX, pattern
from forklake.engines.spark.remote import is_remote

_ready: WeakSet[SparkSession] = WeakSet()


def are_ready(rows: DataFrame) -> bool:
    """Register the casts in the session of some rows; return False if its JVM is out of reach."""
    if is_remote(rows) or not native.is_loaded(rows.sparkSession):
        return False
    spark = rows.sparkSession
    if spark not in _ready:
        jvm: Any = spark._jvm
        jvm.forklake.Dispatch.register(spark._jsparkSession, _table())
        _ready.add(spark)
    return True


def function(name: str) -> str:
    """Return the name of the Spark function of a cast."""
    return PREFIX + name.replace(" ", "_")


@cache
def _table() -> str:
    return json.dumps(
        {
            function(name): [name, *([pattern(types), text] for types, text in entry.choices)]
            for name, entry in CASTS.items()
        }
    )


# The casts of rows to write, by the stored name of the column type.
_STORED = {
    **{f"int{bits}": name for bits, name in ((8, "tinyint"), (16, "smallint"), (32, "int"))},
    **{f"uint{bits}": name for bits, name in ((8, "utinyint"), (16, "usmallint"), (32, "uint"))},
    "int64": "bigint",
    "int128": "int128",
    "uint64": "ubigint",
    "uint128": "uint128",
    "float32": "float",
    "float64": "double",
}


def try_cast(value: Column, column_type: str) -> Column:
    """Return a value cast to a column type, NULL where that fails."""
    if column_type == "varchar":
        return F.call_function(function("varchar"), value)
    if column_type.startswith("decimal"):
        return F.call_function(function("try_cast decimal"), value, F.lit(None).cast(column_type))
    return F.call_function(function(f"try_cast {_STORED.get(column_type, column_type)}"), value)
