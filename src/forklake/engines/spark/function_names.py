"""Names of the functions that Spark has."""

from __future__ import annotations

from pyspark.sql import functions

FUNCTION_NAMES = frozenset(functions.__all__)
