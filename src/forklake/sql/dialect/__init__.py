"""How texts are read: our SQL dialects, the nodes that they add, and stored texts."""

from forklake.sql.dialect.parsing import parse

__all__ = ["parse"]
