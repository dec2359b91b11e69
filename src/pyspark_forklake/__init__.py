"""Lets every Spark find `format("forklake")`: it looks for packages that are called like this."""

from forklake.spark.source.datasource import ForklakeSource as DefaultSource

__all__ = ["DefaultSource"]
