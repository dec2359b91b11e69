"""Parser of FROM and INSERT, with every spelling of time travel."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from forklake.sql.dialect import nodes
from forklake.sql.dialect.definitions import DefinitionParser

# Keywords before a version or timestamp.
_TIME_TRAVEL_WORDS: dict[tuple[str, ...], str] = {
    ("AT", "SNAPSHOT"): nodes.VERSION,
    ("AT", "VERSION"): nodes.VERSION,
    ("AT", "TIMESTAMP"): nodes.TIMESTAMP,
    ("VERSION", "AS", "OF"): nodes.VERSION,
    ("TIMESTAMP", "AS", "OF"): nodes.TIMESTAMP,
    ("FOR", "VERSION", "AS", "OF"): nodes.VERSION,
    ("FOR", "TIMESTAMP", "AS", "OF"): nodes.TIMESTAMP,
    ("FOR", "SYSTEM_VERSION", "AS", "OF"): nodes.VERSION,
    ("FOR", "SYSTEM_TIME", "AS", "OF"): nodes.TIMESTAMP,
}
# `catalog`, the dot, `schema`: sqlglot drops the first parts of longer names.
_MAX_SCHEMA_TOKENS = 3
_FIRST_WORDS = frozenset(words[0] for words in _TIME_TRAVEL_WORDS)


class RelationParser(DefinitionParser):
    """Parser mixin for tables; each spelling of time travel becomes a HistoricalData, `when`."""

    def _parse_historical_data(self) -> exp.HistoricalData | None:
        if self._curr.text.upper() not in _FIRST_WORDS:
            return None
        for words, kind in _TIME_TRAVEL_WORDS.items():
            if self._match_text_seq(*words):
                value = self._parse_bitwise() or self.raise_error("Expected a snapshot or a time")
                return self.expression(exp.HistoricalData(this="AT", kind=kind, expression=value))
        return super()._parse_historical_data()

    def _parse_table(self, *options: Any, **named: Any) -> exp.Expr | None:
        found = super()._parse_table(*options, **named)
        if found is not None and found.args.get("rows_from"):
            self.raise_error("ROWS FROM is not supported")  # it would hide calls of functions
        return found

    def _parse_placeholder(self) -> exp.Expr | None:
        """Record the offset: values are bound in the order of the text, not of the tree."""
        start = self._curr.start if self._curr else 0
        found = super()._parse_placeholder()
        if found is not None:
            found.meta["start"] = start
        return found

    def _parse_version(self) -> None:
        """Return nothing: `_parse_historical_data` parses versions before this is called."""

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        if self._is_next_overload():
            return None
        return super()._parse_join(skip_join_token, parse_bracket, alias_tokens)

    def _parse_star(self) -> exp.Expr | None:
        """Also parse `INSERT BY NAME` and `UPDATE BY NAME` of MERGE INTO as all columns."""
        if self._prev.token_type in (TokenType.INSERT, TokenType.UPDATE):
            self._match_text_seq("BY", "POSITION")
            if self._match_text_seq("BY", "NAME"):
                return exp.Star()
        return super()._parse_star()

    def _parse_when_matched(self) -> exp.Whens:
        found = super()._parse_when_matched()
        for update in found.find_all(exp.Update):
            if isinstance(update.args.get("expressions"), exp.Star):
                update.set("expressions", [update.args["expressions"]])
        return found

    def _parse_insert_table(self) -> exp.Expr | None:
        found = super()._parse_insert_table()
        self._match_text_seq("BY", "POSITION")
        return found

    def _parse_insert(self) -> exp.Insert | exp.MultitableInserts:
        found = super()._parse_insert()
        if not (found.expression or found.args.get("default") or found.args.get("source")):
            self.raise_error("Expected VALUES, DEFAULT VALUES or a query")
        return found

    def _parse_delete(self) -> exp.Delete:
        found = super()._parse_delete()
        if not found.this or found.args.get("tables"):
            self.raise_error("Expected FROM and one table", self._tokens[1])
        return found

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        found = super()._parse_group(skip_group_by_token)
        if found is not None and not any(found.args.values()):
            self.raise_error("Expected a list of expressions to group by")
        return found

    def _parse_table_parts(
        self,
        schema: bool = False,
        is_db_reference: bool = False,
        wildcard: bool = False,
        fast: bool = False,
    ) -> exp.Table | exp.Dot | None:
        start = self._index
        found = super()._parse_table_parts(schema, is_db_reference, wildcard, fast)
        if is_db_reference and self._index - start > _MAX_SCHEMA_TOKENS:
            self.raise_error("Expected the name of a schema", self._tokens[start])
        return found

    def _parse_update(self) -> exp.Update:
        found = super()._parse_update()
        if not found.expressions:
            self.raise_error("Expected SET")
        return found
