"""Expressions as they are written: sqlglot gives some of them another meaning than DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import TokenType

# Functions with a grammar of their own; all others are a name with arguments.
_GRAMMARS = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")


class Expressions(DuckDBParser):
    """The part of a parser of DuckDB's SQL that reads expressions."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: DuckDBParser.FUNCTION_PARSERS[name] for name in _GRAMMARS
    }

    def _parse_tilde(self, this: exp.Expr | None) -> exp.Expr | None:
        """`x ~ y` asks whether y matches the whole of x."""
        found = super()._parse_tilde(this)
        for like in [] if found is None else list(found.find_all(exp.RegexpLike)):
            whole = exp.Anonymous(
                this="regexp_full_match", expressions=[like.this, like.expression]
            )
            if like is found:
                return whole
            like.replace(whole)
        return found

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        """`DATE '2020-01-01'::VARCHAR` casts the date, where sqlglot casts its text."""
        is_value = (
            self._curr.token_type in self.TYPE_TOKENS
            and self._next is not None
            and self._next.token_type == TokenType.STRING
        )
        found = super()._parse_type(parse_interval, fallback_to_identifier)
        if is_value and isinstance(found, exp.Cast) and not isinstance(found.this, exp.Literal):
            text = found.find(exp.Literal)
            assert text is not None
            text.replace(exp.Cast(this=text.copy(), to=found.to.copy()))
            cast: exp.Expr = found.this
            return cast.pop()
        return found
