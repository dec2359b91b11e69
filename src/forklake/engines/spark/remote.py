"""DataFrames of Spark Connect.

They are plans that the server analyzes again at each use: errors in a plan appear late, and random
values or data that was read may differ between uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession


def is_remote(one: DataFrame | SparkSession) -> bool:
    """Return whether this is a Spark Connect object, whose JVM cannot be accessed."""
    return not hasattr(one, "_jdf" if isinstance(one, DataFrame) else "_jsparkSession")


def analysed(rows: DataFrame) -> DataFrame:
    """Return the DataFrame; a remote one is analyzed first, so that errors are raised here."""
    if is_remote(rows):
        _ = rows.schema
    return rows


@contextmanager
def persisted(rows: DataFrame) -> Iterator[DataFrame]:
    """Yield the rows, computed once while in use, so that each use sees the same values."""
    if is_remote(rows):
        yield rows.localCheckpoint(eager=False)
        return
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()
