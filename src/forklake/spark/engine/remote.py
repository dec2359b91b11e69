"""DataFrames of Spark Connect.

They are plans that the server analyses anew whenever they are used: a mistake in one shows itself
late, and what is random in one, or read from somewhere, is another at each use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession


def is_remote(one: DataFrame | SparkSession) -> bool:
    """Whether its Java machine is out of reach."""
    return not hasattr(one, "_jdf" if isinstance(one, DataFrame) else "_jsparkSession")


def analysed(rows: DataFrame) -> DataFrame:
    """The DataFrame, after its mistakes were raised, if it has some."""
    if is_remote(rows):
        _ = rows.schema
    return rows


@contextmanager
def persisted(rows: DataFrame) -> Iterator[DataFrame]:
    """The rows, computed only once while they are used, and so always the same."""
    if is_remote(rows):
        yield rows.localCheckpoint(eager=False)
        return
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()
