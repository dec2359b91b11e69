"""Data source `format("forklake")` of Spark, which finds it by the name of this package."""

from pyspark_forklake.datasource import ForklakeSource as DefaultSource

__all__ = ["DefaultSource"]
