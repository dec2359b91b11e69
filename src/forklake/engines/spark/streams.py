"""Streaming queries of Spark, over the data source of Forklake or batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from forklake.engines.spark.remote import is_remote
from forklake.engines.spark.routes import spark_path

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

__all__ = ["batch_writer", "is_remote", "query_id", "read", "source_writer", "start"]

QUERY_ID = "sql.streaming.queryId"  # property of the tasks of a streaming query


def read(engine: Engine, source: str, options: Mapping[str, str]) -> DataFrame:
    """Return a streaming DataFrame over a data source."""
    return engine.spark.readStream.format(source).options(**options).load()


def query_id(batch: DataFrame) -> str:
    """Return the id of the streaming query that a batch belongs to."""
    context: Any = batch.sparkSession.sparkContext
    found: str = context.getLocalProperty(QUERY_ID)
    return found


def batch_writer(rows: DataFrame, append: Callable[[DataFrame, int], None]) -> DataStreamWriter:
    """Return a stream writer that calls a function with each batch and its number."""
    return rows.writeStream.foreachBatch(append)


def source_writer(rows: DataFrame, source: str, options: Mapping[str, str]) -> DataStreamWriter:
    """Return a stream writer on a data source."""
    return rows.writeStream.format(source).options(**options)


def start(
    writer: DataStreamWriter,
    *,
    checkpoint: str,
    trigger: Mapping[str, Any] | None,
    query_name: str | None,
) -> StreamingQuery:
    """Start a streaming query."""
    # Spark resolves a relative path against the working directory of its JVM.
    writer = writer.option("checkpointLocation", spark_path(checkpoint))
    if trigger is not None:
        writer = writer.trigger(**trigger)
    if query_name is not None:
        writer = writer.queryName(query_name)
    return writer.start()
