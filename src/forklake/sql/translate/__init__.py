"""DuckDB's SELECT as Spark SQL with the same meaning; what has no counterpart is refused."""

from __future__ import annotations

from forklake.sql.translate.translating import to_spark

__all__ = ["to_spark"]
