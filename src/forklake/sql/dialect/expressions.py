"""Parser of expressions, where sqlglot gives some of them another meaning than DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import TokenType

# Functions with a special grammar; all others are a name with arguments.
_GRAMMAR_FUNCTIONS = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
# Possessive: with `\s*` twice, a long text would take quadratic time.
_MAX_UNIT_LENGTH = 100  # characters of a number and a word; sqlglot is slow with more
_ONE_UNIT = re.compile(r"\s*+[+-]?\d++(\.\d++)?\s*+[a-zA-Z]*+\s*+")

# Token of `==`, of a kind that DuckDB SQL does not use otherwise. It binds like `||`:
# `a == b || c` is (a == b) || c, and `a > b == c` is a > (b == c).
DOUBLE_EQUALS = TokenType.DOTCARET


class ExpressionParser(DuckDBParser):
    """Parser mixin for DuckDB expressions."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: DuckDBParser.FUNCTION_PARSERS[name] for name in _GRAMMAR_FUNCTIONS
    }

    UNARY_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        **DuckDBParser.UNARY_PARSERS,
        # With the precedence of other operators: `~a + 1` is ~(a + 1).
        TokenType.TILDE: lambda self: self.expression(exp.BitwiseNot(this=self._parse_term())),
    }

    BITWISE: ClassVar[dict[TokenType, type[exp.Binary]]] = {
        **DuckDBParser.BITWISE,
        DOUBLE_EQUALS: exp.EQ,
    }
    EQUALITY: ClassVar[dict[TokenType, type[exp.Binary]]] = {
        **DuckDBParser.EQUALITY,
        DOUBLE_EQUALS: exp.EQ,  # after a predicate: `a IN (1, 2) == b`
    }

    # `@a + 1` is @(a + 1), and `@a & b` is (@a) & b.
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        **DuckDBParser.NO_PAREN_FUNCTION_PARSERS,
        "@": lambda self: exp.Abs(this=self._parse_term()),
    }

    ARRAY_CONSTRUCTORS: ClassVar[dict[str, type[exp.Func]]] = {}

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """Parse `ARRAY[x]` as a list, and brackets after any other name or call as an index.

        sqlglot also takes `list[x]`, `t.array[x]` and `list(x)[1]` for list constructors.
        """
        bare = this.this if isinstance(this, exp.Column) and not this.table else this
        if isinstance(bare, exp.Identifier) and not bare.quoted and bare.name.upper() == "ARRAY":
            return super()._parse_bracket()
        return super()._parse_bracket(this)

    def _parse_interval_span(
        self, this: exp.Expr, parse_function_unit: bool = True
    ) -> exp.Interval:
        """Keep the text of an interval whole, where sqlglot picks a number and a word out of it."""
        is_one = len(this.name) <= _MAX_UNIT_LENGTH and _ONE_UNIT.fullmatch(this.name)
        if this.is_string and not is_one:
            return self.expression(exp.Interval(this=this))
        return super()._parse_interval_span(this, parse_function_unit)

    def _parse_tilde(self, this: exp.Expr | None) -> exp.Expr | None:
        """Parse `x ~ y` as a regular expression y that must match the whole of x."""
        found = super()._parse_tilde(this)
        for like in [] if found is None else list(found.find_all(exp.RegexpLike)):
            full_match = exp.Anonymous(
                this="regexp_full_match", expressions=[like.this, like.expression]
            )
            if like is found:
                return full_match
            like.replace(full_match)
        return found

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        """Parse `DATE '2020-01-01'::VARCHAR` as a cast of the date; sqlglot casts the string."""
        is_value = (
            self._curr.token_type in self.TYPE_TOKENS
            and self._next is not None
            and self._next.token_type == TokenType.STRING
        )
        if self._is_comparison_next():
            return self._parse_column()
        found = super()._parse_type(parse_interval, fallback_to_identifier)
        if is_value and isinstance(found, exp.Cast) and not isinstance(found.this, exp.Literal):
            text = found.find(exp.Literal)
            assert text is not None
            text.replace(exp.Cast(this=text.copy(), to=found.to.copy()))
            cast: exp.Expr = found.this
            return cast.pop()
        return found

    def _is_comparison_next(self) -> bool:
        """Return whether a column named like a nested type follows, as in `range < 3`."""
        is_name = self._curr.token_type in self.NESTED_TYPE_TOKENS
        return is_name and self._next is not None and self._next.token_type == TokenType.LT
