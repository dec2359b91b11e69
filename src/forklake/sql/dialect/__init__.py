"""The SQL dialects of Forklake, the nodes that they add, and stored SQL texts."""

from forklake.sql.dialect.parsing import parse

__all__ = ["parse"]
