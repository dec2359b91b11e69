"""Scripts: texts of several statements, and where in the text each of them is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import tokenize
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from forklake.errors import ForklakeError


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a script; both numbers count from one."""

    number: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """A text of statements, the dialect that it is in, and where it came from."""

    text: str
    dialect: str = "duckdb"
    source: str = ""

    def statements(self) -> list[Statement]:
        """Its statements, without the semicolons between them and comments around them."""
        try:
            tokens = tokenize(self.text, read=self.dialect)
        except TokenError:  # quotes or a comment without an end: all of it is one
            return [Statement(1, 1, self.text)]
        return [
            Statement(number, part[0].line, self.text[part[0].start : part[-1].end + 1])
            for number, part in enumerate(_parts(tokens), 1)
        ]

    def check(self) -> list[Statement]:
        """Its statements, all of which can be read: nothing of a text that cannot is to run."""
        from forklake.sql.dialect import parse

        found = self.statements()
        for one in found:
            with located(self, one, is_alone=len(found) == 1):
                parse("\n" * (one.line - 1) + one.text, self.dialect)
        return found


def _parts(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement that has some."""
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
    """Whether the last statement of a text is ended by a semicolon, or there is none."""
    try:
        tokens = tokenize(text, read=dialect)
    except TokenError:
        return False
    return not tokens or tokens[-1].token_type == TokenType.SEMICOLON


@contextmanager
def located(script: Script, statement: Statement, *, is_alone: bool) -> Iterator[None]:
    """Within the block errors of ours say which statement of the script they are about."""
    try:
        yield
    except ForklakeError as error:
        if script.source:
            error.details["source"] = script.source
        if script.source or not is_alone:
            error.details.update(statement=statement.number, line=statement.line)
        raise
