"""Quoting of column names as in Spark SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a column name in backticks, as Spark SQL quotes it."""
    return "`" + name.replace("`", "``") + "`"
