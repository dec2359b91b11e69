"""Requirements of the SQL dialect on installed packages."""

from __future__ import annotations

from sqlglot import tokens

from forklake.errors import Unsupported


def refuse_compiled_sqlglot() -> None:
    """Raise Unsupported if sqlglot is compiled: its classes then cannot be subclassed."""
    if tokens.SQLGLOTC_INSTALLED:
        raise Unsupported(
            "The package 'sqlglotc' is installed. It compiles sqlglot, whose classes then cannot be"
            " extended by the SQL dialect of Forklake.",
            remedy="Remove the package: pip uninstall sqlglotc",
        )
