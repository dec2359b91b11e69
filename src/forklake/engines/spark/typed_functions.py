"""Functions whose meaning depends on the types of their arguments, registered in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.sql import SparkSession

from forklake.errors import Unsupported

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_registered_sessions: WeakSet[SparkSession] = WeakSet()


def define_functions(engine: Engine, table: str) -> None:
    """Register functions in a Spark session, once. Raise Unsupported with Spark Connect.

    Args:
        table: the functions with their choices, as JSON.
    """
    if engine.spark in _registered_sessions:
        return
    if not engine.is_native:
        raise Unsupported(
            "This query needs functions in the JVM of Spark, which Spark Connect cannot register.",
            remedy="Write it in Spark SQL with dialect='spark', or run Spark in this process.",
        )
    jvm: Any = engine.spark._jvm
    jvm.forklake.Dispatch.register(engine.spark._jsparkSession, table)
    _registered_sessions.add(engine.spark)
