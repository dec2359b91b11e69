"""Stored texts of views and macros, with full names and a placeholder for the catalog.

A text is stored as it was written, except for its names: tables and macros of the catalog that
stores it begin with a placeholder instead of the alias. So the text is valid under every alias and
in forks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from forklake.engines.spark.quoting import quoted as spark_quoted
from forklake.errors import InvalidInput, NotFound
from forklake.model.names import PLACEHOLDER, folded
from forklake.model.names import quoted as duckdb_quoted
from forklake.sql.dialect import nodes
from forklake.sql.dialect.definitions import OFFSET, SOURCE
from forklake.sql.dialect.parsing import parse, parse_expression, tokenize
from forklake.sql.query.names import find_tables_and_functions

if TYPE_CHECKING:
    from forklake.session.attachments import Attachment
    from forklake.session.name_resolution import TableName
    from forklake.sql.session import Session

_QUOTES = {"duckdb": duckdb_quoted, "spark": spark_quoted}
_PLACEHOLDER_TOKENS = [TokenType.L_BRACE, TokenType.VAR, TokenType.R_BRACE]
_QUOTED_NAME = re.compile(r'"((?:[^"]|"")*)"')
_MAX_CACHED_LENGTH = 1000  # characters of a text whose parsed form is cached
Edit = tuple[int, int, str]


def stored_text(node: exp.Expr, session: Session, home: Attachment) -> str:
    """Return the text of a query or macro body in the form that the catalog `home` stores."""
    source, offset = str(node.meta[SOURCE]), int(node.meta[OFFSET])
    for start, end, text in sorted(_find_edits(node, session, home), reverse=True):
        source = source[: start - offset] + text + source[end - offset :]
    return source


def parse_stored_text(
    text: str, dialect: str, alias: str, *, is_expression: bool = False
) -> exp.Expr:
    """Parse a stored text for the alias under which its catalog is attached."""
    if len(text) > _MAX_CACHED_LENGTH:
        return _parse_text(text, dialect, alias, is_expression)
    return _parse_cached_text(text, dialect, alias, is_expression).copy()


def _parse_text(text: str, dialect: str, alias: str, is_expression: bool) -> exp.Expr:
    tokens = tokenize(text, dialect)
    for position in range(len(tokens) - 2, -1, -1):
        candidate = tokens[position : position + 3]
        if [one.token_type for one in candidate] == _PLACEHOLDER_TOKENS and candidate[
            1
        ].text == PLACEHOLDER[1:-1]:
            text = (
                text[: candidate[0].start] + _QUOTES[dialect](alias) + text[candidate[2].end + 1 :]
            )
    if is_expression:
        return parse_expression(text, dialect)
    statements = parse(text, dialect)
    if len(statements) != 1:
        raise InvalidInput(
            f"The stored query has {len(statements)} statements instead of one.",
            remedy="Define it again with a single SELECT.",
        )
    return statements[0]


# A query may call a macro thousands of times, through other macros.
_parse_cached_text = lru_cache(256)(_parse_text)


def format_aliases(names: Sequence[str]) -> str | None:
    """Return the column names of a view in their stored form."""
    return ",".join(duckdb_quoted(name) for name in names) or None


def parse_aliases(text: str | None) -> list[str]:
    """Return the column names of a view from their stored form; empty if it defines none."""
    return [name.replace('""', '"') for name in _QUOTED_NAME.findall(text or "")]


def find_tables(node: exp.Expr) -> list[exp.Table]:
    """Return the tables that a query reads, without functions and names of its WITH clauses."""
    return [
        table for table in find_tables_and_functions(node) if not isinstance(table.this, exp.Func)
    ]


# Qualified names


def _find_edits(node: exp.Expr, session: Session, home: Attachment) -> Iterator[Edit]:
    for table in find_tables(node):
        place = _resolve_relation(table, session)
        if place is not None:
            catalog = _format_catalog(place, session, home)
            parts = [_quote_if_needed(part, session) for part in (place.schema, place.table)]
            yield _replace_parts(table.parts, ".".join([catalog, *parts]))
    for function in node.find_all(exp.Anonymous):
        yield from _find_function_edits(function, session, home)
    for column in node.find_all(exp.Column):
        first = column.args.get("catalog")
        if isinstance(first, exp.Identifier) and folded(first.name) == folded(home.alias):
            yield _replace_parts([first], PLACEHOLDER)


def _resolve_relation(table: exp.Table, session: Session) -> TableName | None:
    """Return the table or view of a lake that a name means; None if it is from elsewhere.

    A table with an AT clause may be dropped by now.
    """
    try:
        place = session.resolve(nodes.name_parts(table))
    except NotFound:
        return None
    state = session.viewing(place.attachment).state
    exists = state.find_relation(place.table, place.schema) is not None
    return place if exists or table.args.get("when") is not None else None


def _find_function_edits(
    function: exp.Anonymous, session: Session, home: Attachment
) -> Iterator[Edit]:
    qualifiers = _find_qualifiers(function)
    if qualifiers and folded(qualifiers[0].name) == folded(home.alias):
        yield _replace_parts(qualifiers[:1], PLACEHOLDER)
        return
    kind = "table" if isinstance(function.parent, exp.Table) else "scalar"
    try:
        place = session.resolve([*(one.name for one in qualifiers), function.name])
    except NotFound:
        return
    if session.viewing(place.attachment).state.find_macro(place.table, place.schema, type=kind):
        catalog = _format_catalog(place, session, home)
        prefix = f"{catalog}.{_quote_if_needed(place.schema, session)}."
        start = (qualifiers or [function])[0].meta["start"]
        yield start, function.meta["start"], prefix


def _find_qualifiers(function: exp.Anonymous) -> list[exp.Expr]:
    parent = function.parent
    is_last = isinstance(parent, exp.Dot) and parent.expression is function
    if parent is not None and (is_last or isinstance(parent, exp.Table)):
        return nodes.call_parts(parent)[:-1]
    return []


def _replace_parts(parts: Sequence[exp.Expr], text: str) -> Edit:
    return parts[0].meta["start"], parts[-1].meta["end"] + 1, text


def _format_catalog(place: TableName, session: Session, home: Attachment) -> str:
    if place.attachment is home:
        return PLACEHOLDER
    return _quote_if_needed(place.attachment.alias, session)


def _quote_if_needed(name: str, session: Session) -> str:
    """Return a name, quoted if it would be parsed as something else."""
    dialect = session.dialect
    is_plain = name.isidentifier() and [token.token_type for token in tokenize(name, dialect)] == [
        TokenType.VAR
    ]
    return name if is_plain else _QUOTES[dialect](name)
