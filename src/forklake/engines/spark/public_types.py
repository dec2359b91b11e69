"""Spark types in the interface of sessions, for annotations outside of this package."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import DataType, StructField, StructType

__all__ = [
    "Column",
    "DataFrame",
    "DataType",
    "SparkSession",
    "StreamingQuery",
    "StructField",
    "StructType",
]
