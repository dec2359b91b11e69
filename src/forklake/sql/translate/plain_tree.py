"""Parsing of queries into plain trees: functions as names with arguments, indexes as written.

sqlglot maps functions of many dialects to common nodes. Here they keep their DuckDB names, since
the tables of `functions` define their meaning.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp, parse_one
from sqlglot.errors import ErrorLevel, ParseError, UnsupportedError
from sqlglot.generators.duckdb import DuckDBGenerator

from forklake.errors import InvalidInput, Unsupported
from forklake.sql.dialect.dialects import Forklake
from forklake.sql.dialect.statements import StatementParser


class PlainDuckDB(Forklake):
    """The Forklake dialect with indexes as written: sqlglot would count them from 0."""

    INDEX_OFFSET = 0


class _LosslessDuckDB(Forklake):
    """The Forklake dialect as text, without losing any clause."""

    class Generator(DuckDBGenerator):
        MULTI_ARG_DISTINCT = True

        def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
            return f"{self.sql(expression, 'this')} IGNORE NULLS"

        def respectnulls_sql(self, expression: exp.RespectNulls) -> str:
            return f"{self.sql(expression, 'this')} RESPECT NULLS"


def to_plain_tree(node: exp.Expr) -> exp.Expr:
    """Return a copy of a query or expression, with functions as plain names."""
    try:
        text = node.sql(
            dialect=_LosslessDuckDB, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
        )
        return _parse_text(text, is_expression=isinstance(node, exp.Condition))
    except UnsupportedError as reason:
        raise Unsupported(str(reason), remedy="Write the query in another way.") from reason
    except ParseError as reason:
        raise InvalidInput(
            f"The text cannot be parsed: {text}.", remedy="Correct its syntax."
        ) from reason


def _parse_text(text: str, *, is_expression: bool) -> exp.Expr:
    """Parse a text. An expression may begin with a keyword that would begin a statement."""
    if not is_expression:
        return parse_one(text, read=PlainDuckDB)
    dialect = PlainDuckDB()
    return cast(StatementParser, dialect.parser()).parse_single(dialect.tokenize(text), text)
