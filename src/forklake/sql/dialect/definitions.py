"""Parser of CREATE and DROP, with macros, and the source text of stored queries."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from forklake.sql.dialect import nodes
from forklake.sql.dialect.alterations import AlterationParser

MACRO, TABLE_MACRO = "MACRO", "MACRO TABLE"
SOURCE, OFFSET = "source", "offset"
_MACRO_WORDS = ("MACRO", "FUNCTION")
_DEFAULT_SIGNS = (TokenType.COLON_EQ, TokenType.FARROW)


class DefinitionParser(AlterationParser):
    """Mixin that parses definitions.

    Queries and bodies of macros keep the text that they were parsed from, because the text is what
    the catalog stores.
    """

    def _record_source(self, node: exp.Expr | None, start: Token) -> exp.Expr | None:
        if node is not None:
            node.meta[SOURCE] = self._find_sql(start, self._prev)
            node.meta[OFFSET] = start.start
        return node

    def _parse_ddl_select(self) -> exp.Expr | None:
        start = self._curr
        return self._record_source(super()._parse_ddl_select(), start)

    # Macros

    def _parse_create(self) -> exp.Create | exp.Command:
        index = self._index
        replace = self._match_text_seq("OR", "REPLACE")
        temporary = self._match_texts(("TEMP", "TEMPORARY"))
        if self._match_texts(_MACRO_WORDS):
            return self._parse_macro(replace=replace, temporary=bool(temporary))
        self._retreat(index)
        return super()._parse_create()

    def _parse_macro(self, *, replace: bool, temporary: bool) -> exp.Create:
        exists = self._parse_exists(not_=True)
        name = self._parse_table_parts(schema=True)
        overloads = [self._parse_overload()]
        while self._match(TokenType.COMMA):
            overloads.append(self._parse_overload())
        properties = exp.Properties(expressions=[exp.TemporaryProperty()]) if temporary else None
        return self.expression(
            exp.Create(
                this=exp.UserDefinedFunction(this=name),
                kind=MACRO,
                replace=replace,
                exists=exists,
                properties=properties,
                expression=exp.MacroOverloads(expressions=overloads),
            )
        )

    def _parse_overload(self) -> exp.MacroOverload:
        parameters = self._parse_wrapped_csv(self._parse_macro_parameter)
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS")
        is_table = self._match(TokenType.TABLE)
        start = self._curr
        body = self._parse_ddl_select() if is_table else self._parse_assignment()
        body = self._record_source(body, start)
        if body is None:
            self.raise_error("Expected a query" if is_table else "Expected an expression")
        return self.expression(
            exp.MacroOverload(this=body, expressions=parameters, is_table=bool(is_table))
        )

    def _parse_macro_parameter(self) -> exp.Expr | None:
        if self._match(TokenType.R_PAREN, advance=False):
            return None
        name = self._require_name()
        signs = (*_DEFAULT_SIGNS, TokenType.COMMA, TokenType.R_PAREN)
        kind = None if self._match_set(signs, advance=False) else self._parse_types(schema=True)
        default = None
        if self._match_set(_DEFAULT_SIGNS):
            default = self._parse_disjunction() or self.raise_error("Expected a value")
        return self.expression(nodes.MacroParameter(this=name, kind=kind, default=default))

    def _is_next_overload(self) -> bool:
        """Return whether `, (…) AS TABLE` follows: another overload, not a table to join."""
        if self._curr.token_type != TokenType.COMMA or self._next.token_type != TokenType.L_PAREN:
            return False
        depth = 0
        for position in range(self._index + 1, self._tokens_size - 2):
            kind = self._tokens[position].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if not depth:
                after = self._tokens[position + 1 : position + 3]
                return [one.token_type for one in after] == [TokenType.ALIAS, TokenType.TABLE]
        return False

    def _parse_drop(self, exists: bool = False, kind: str | None = None) -> exp.Drop | exp.Command:
        index = self._index
        temporary = self._match_texts(("TEMP", "TEMPORARY"))
        if kind is not None or not self._match_texts(_MACRO_WORDS):
            self._retreat(index)
            return super()._parse_drop(exists=exists, kind=kind)
        is_table = self._match(TokenType.TABLE)
        if_exists = self._parse_exists()
        name = self._parse_table_parts(schema=True)
        self._match_texts(("CASCADE", "RESTRICT"))
        return self.expression(
            exp.Drop(
                kind=TABLE_MACRO if is_table else MACRO,
                tables=[name],
                exists=if_exists,
                temporary=bool(temporary),
            )
        )
