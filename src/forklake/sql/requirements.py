"""What the SQL dialect needs of the packages that it is made with."""

from __future__ import annotations

from sqlglot import tokens

from forklake.errors import Unsupported


def refuse_compiled_sqlglot() -> None:
    """Raise Unsupported if sqlglot is compiled: its classes then allow no dialects of others."""
    if tokens.SQLGLOTC_INSTALLED:
        raise Unsupported(
            "The package 'sqlglotc' is installed. It compiles sqlglot, whose classes then cannot be"
            " extended by the SQL dialect of Forklake.",
            remedy="Remove it: pip uninstall sqlglotc",
        )
