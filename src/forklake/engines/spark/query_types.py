"""Types of the columns of queries in DuckDB SQL."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType

from forklake.engines.spark.types import column_specs
from forklake.errors import Unsupported
from forklake.model.duckdb_types import duckdb_type
from forklake.model.types import as_type

# Spark types that no column of a table has, by the name of their class.
_QUERY_TYPES = {
    "NullType": "INTEGER",  # the type of an untyped NULL in DuckDB
    "DayTimeIntervalType": "INTERVAL",
    "YearMonthIntervalType": "INTERVAL",
    "CalendarIntervalType": "INTERVAL",
    "VariantType": "VARIANT",
}


def query_type(field: StructField) -> str:
    """Return the type of a column of a query in DuckDB SQL."""
    try:
        (spec,) = column_specs(StructType([field]))
    except Unsupported:
        kind = field.dataType
        return _QUERY_TYPES.get(type(kind).__name__, kind.simpleString().upper())
    return duckdb_type(as_type(spec.type))
