"""Alias package for `format("forklake")`: Spark looks up Python data sources by this name."""

from pyspark_forklake.datasource import ForklakeSource as DefaultSource

__all__ = ["DefaultSource"]
