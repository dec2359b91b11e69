"""Parsing of texts into statements, with syntax errors as InvalidInput."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from forklake.errors import InvalidInput, Unsupported
from forklake.sql import limits
from forklake.sql.dialect.dialects import Forklake, ForklakeSpark
from forklake.sql.dialect.failures import translate_failure
from forklake.sql.dialect.precedence import enclose_conditions
from forklake.sql.dialect.statements import StatementParser

_DIALECTS = {"duckdb": Forklake(), "spark": ForklakeSpark()}
# Clauses that parse, but are refused.
_UNSUPPORTED_CLAUSES: dict[type[exp.Expr], dict[str, str]] = {
    exp.Insert: {
        "returning": "RETURNING",
        "conflict": "ON CONFLICT",
        "alternative": "INSERT OR …",
        "ignore": "INSERT IGNORE",
    },
    exp.Update: {"returning": "RETURNING", "limit": "LIMIT in an UPDATE"},
    exp.Delete: {"returning": "RETURNING", "limit": "LIMIT in a DELETE"},
    exp.Merge: {"returning": "RETURNING"},
}

_CHANGE_STATEMENTS = (exp.DML, exp.DDL, exp.Merge, exp.Alter, exp.Drop, exp.TruncateTable)


def parse(text: str, dialect: str = "duckdb") -> list[exp.Expr]:
    """Return the statements of a text in order. Raise InvalidInput where the syntax is wrong."""
    with _translate_errors(text):
        parsed = _create_parser(dialect).parse_statements(tokenize(text, dialect), text)
    return [
        enclose_conditions(_check_statement(node))
        for node in parsed
        if isinstance(node, exp.Expr) and not isinstance(node, exp.Semicolon)
    ]


def parse_expression(text: str, dialect: str = "duckdb") -> exp.Expr:
    """Return the single expression of a text."""
    with _translate_errors(text):
        return enclose_conditions(
            _create_parser(dialect).parse_single(tokenize(text, dialect), text)
        )


def _create_parser(dialect: str) -> StatementParser:
    return cast(StatementParser, _DIALECTS[dialect].parser())


def tokenize(text: str, dialect: str = "duckdb") -> list[Token]:
    """Return the tokens of a text."""
    limits.check_text(text)
    with _translate_errors(text):
        return _DIALECTS[dialect].tokenize(text)


@contextmanager
def _translate_errors(text: str) -> Iterator[None]:
    try:
        yield
    except SqlglotError as failure:
        raise translate_failure(failure, text) from None
    except RecursionError:
        raise InvalidInput(
            "The statement is nested too deeply to be parsed.",
            remedy="Split it into smaller statements.",
        ) from None


def _check_statement(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.EndStatement):  # sqlglot parses END after other statements like this
        return exp.Commit()
    for argument, words in _UNSUPPORTED_CLAUSES.get(type(node), {}).items():
        if node.args.get(argument):
            raise Unsupported(
                f"{words} is not supported.", remedy="Write the statement without this clause."
            )
    _refuse_past_target(node)
    for select in node.find_all(exp.Select):
        if not select.expressions:
            raise InvalidInput(
                "A SELECT has no columns.", remedy="Write SELECT *, or list the columns."
            )
    return node


def _refuse_past_target(node: exp.Expr) -> None:
    """Raise InvalidInput if the table that a statement changes has an AT clause."""
    for table in node.find_all(exp.Table) if isinstance(node, _CHANGE_STATEMENTS) else ():
        is_target = table.parent is node or isinstance(table.parent, exp.Schema)
        if is_target and table.arg_key != "using" and table.args.get("when"):
            raise InvalidInput(
                f"The table '{table.name}' cannot be changed at a past snapshot.",
                remedy="Remove the AT clause: only queries can read past snapshots.",
            )
