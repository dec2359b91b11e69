"""The two dialects, DuckDB SQL and Spark SQL, each extended by the statements of the lake."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from forklake.sql.dialect.expressions import DOUBLE_EQUALS, ExpressionParser
from forklake.sql.dialect.numbers import split_exponents
from forklake.sql.dialect.relations import RelationParser


def _remove_commands(keywords: dict[str, TokenType]) -> dict[str, TokenType]:
    """Return the keywords except those after which sqlglot leaves the rest unparsed."""
    return {word: kind for word, kind in keywords.items() if kind is not TokenType.COMMAND}


_MAX_PATH_LENGTH = 10_000  # characters of a path of JSON that sqlglot looks into


class Forklake(DuckDB):
    """DuckDB SQL."""

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """Leave a long path as it is: sqlglot cannot be interrupted while it parses one."""
        if isinstance(path, exp.Literal) and len(path.this) > _MAX_PATH_LENGTH:
            return path
        return super().to_json_path(path)

    class Tokenizer(DuckDB.Tokenizer):
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **_remove_commands(DuckDB.Tokenizer.KEYWORDS),
            "==": DOUBLE_EQUALS,
        }
        COMMANDS: ClassVar[set[TokenType]] = set()

        def tokenize(self, sql: str) -> list[Token]:
            """Return the tokens of a text, with numbers like `1e3` apart from what follows."""
            return split_exponents(super().tokenize(sql), sql)

    class Parser(RelationParser, ExpressionParser):
        def _parse_map(self) -> exp.ToMap | exp.Map | exp.Bracket:  # type: ignore[override]
            """Parse a map and its index: sqlglot reads `MAP {…}[key]` as `MAP ({…}[key])`."""
            found = super()._parse_map()
            inner = found.this if isinstance(found, exp.ToMap) else None
            if not isinstance(inner, exp.Bracket):
                return found
            innermost = inner
            while isinstance(innermost.this, exp.Bracket):
                innermost = innermost.this
            innermost.set("this", exp.ToMap(this=innermost.this))
            return inner


class ForklakeSpark(Spark):
    """Spark SQL."""

    class Tokenizer(Spark.Tokenizer):
        KEYWORDS = _remove_commands(Spark.Tokenizer.KEYWORDS)
        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(RelationParser, SparkParser):
        pass
