"""Scripts: texts of several SQL statements, with the line of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from forklake.errors import ForklakeError


@dataclass(frozen=True, slots=True)
class ScriptStatement:
    """One statement of a script. Its number and its line count from one."""

    number: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """Text of statements with its SQL dialect and its source (a file name, if any)."""

    text: str
    dialect: str = "duckdb"
    source: str = ""

    def statements(self) -> list[ScriptStatement]:
        """Return the statements without their semicolons and the comments around them."""
        try:
            tokens = tokenize(self.text, read=self.dialect)
        except TokenError:  # an unclosed quote or comment: treat the text as one statement
            return [ScriptStatement(1, 1, self.text)]
        return [
            ScriptStatement(number, part[0].line, self.text[part[0].start : part[-1].end + 1])
            for number, part in enumerate(_split_statements(tokens), 1)
        ]

    def check(self) -> list[ScriptStatement]:
        """Parse all statements and return them, so that none runs if a later one is invalid."""
        from forklake.sql.dialect import parse

        found = self.statements()
        for one in found:
            with add_position(self, one, is_alone=len(found) == 1):
                parse("\n" * (one.line - 1) + one.text, self.dialect)
        return found


def _split_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each statement that is not empty."""
    part: list[Token] = []
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            part.append(token)
        elif part:
            yield part
            part = []
    if part:
        yield part


def is_complete(text: str, dialect: str = "duckdb") -> bool:
    """Return whether a text is empty or its last statement ends with a semicolon."""
    try:
        tokens = tokenize(text, read=dialect)
    except TokenError:
        return False
    return not tokens or tokens[-1].token_type == TokenType.SEMICOLON


@contextmanager
def add_position(script: Script, statement: ScriptStatement, *, is_alone: bool) -> Iterator[None]:
    """Add the number and line of a statement to the details of errors raised in the block."""
    try:
        yield
    except ForklakeError as error:
        if script.source:
            error.details["source"] = script.source
        if script.source or not is_alone:
            error.details.update(statement=statement.number, line=statement.line)
        raise
