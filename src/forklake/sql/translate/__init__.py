"""Translation of DuckDB SQL to Spark SQL with the same meaning; other constructs are refused."""

from __future__ import annotations

from forklake.sql.translate.translation import to_spark

__all__ = ["to_spark"]
