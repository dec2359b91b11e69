"""Queries as plain trees: every function a name with arguments, every index as it was written.

sqlglot gives many functions of many dialects a common meaning. Here the meaning comes from the
tables of `functions`, which speak of DuckDB's functions by their names.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp, parse_one
from sqlglot.errors import ErrorLevel, ParseError, UnsupportedError
from sqlglot.generators.duckdb import DuckDBGenerator

from forklake.errors import InvalidInput, Unsupported
from forklake.sql.dialect.dialects import Forklake
from forklake.sql.dialect.statements import Statements


class PlainDuckDB(Forklake):
    """Our dialect with indexes as they were written, where sqlglot counts from 0."""

    INDEX_OFFSET = 0


class _Written(Forklake):
    """Our dialect as text, with nothing left out."""

    class Generator(DuckDBGenerator):
        MULTI_ARG_DISTINCT = True

        def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
            return f"{self.sql(expression, 'this')} IGNORE NULLS"

        def respectnulls_sql(self, expression: exp.RespectNulls) -> str:
            return f"{self.sql(expression, 'this')} RESPECT NULLS"


def plain(node: exp.Expr) -> exp.Expr:
    """A copy of a query or an expression, read without a meaning for its functions."""
    try:
        text = node.sql(
            dialect=_Written, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
        )
        return _read(text, is_expression=isinstance(node, exp.Condition))
    except UnsupportedError as reason:
        raise Unsupported(str(reason), remedy="Write the query in another way.") from reason
    except ParseError as reason:
        raise InvalidInput(f"This cannot be read: {text}.", remedy="Check its grammar.") from reason


def _read(text: str, *, is_expression: bool) -> exp.Expr:
    """A text as a tree; an expression may begin with a word that elsewhere begins a statement."""
    if not is_expression:
        return parse_one(text, read=PlainDuckDB)
    dialect = PlainDuckDB()
    return cast(Statements, dialect.parser()).parse_single(dialect.tokenize(text), text)
