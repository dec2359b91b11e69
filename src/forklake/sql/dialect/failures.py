"""Messages of syntax errors, with the position and the reason."""

from __future__ import annotations

import re

from sqlglot.errors import ParseError, SqlglotError

from forklake.errors import InvalidInput

_REMEDY = "Correct the statement at this position."
# Messages of sqlglot, and the messages shown in their place.
_MESSAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Invalid expression / Unexpected token"), "unexpected token"),
    (
        re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*\.(\w+)'>"),
        r"\1 is not complete",
    ),
    (re.compile(r"Expecting (.+)"), r"expected \1"),
    (re.compile(r"Expected (.+) but got .*", re.DOTALL), r"expected \1"),
    (re.compile(r"Expected (.+)"), r"expected \1"),
    (re.compile(r"The number of provided arguments.*"), "the function has too many arguments"),
)
_MISSING = re.compile(r"Missing (.+) from \d+:(\d+)")


class SyntaxFailure(ParseError):
    """Syntax error at an offset of a text. `near` is the token there, or empty at the end."""

    def __init__(self, message: str, offset: int, near: str = "") -> None:
        super().__init__(message, [{"description": message}])
        self.message = message
        self.offset = offset
        self.near = near


def translate_failure(failure: SqlglotError, sql: str) -> InvalidInput:
    """Return the error that is shown for a failure of sqlglot."""
    if isinstance(failure, SyntaxFailure):
        near = f"'{failure.near}'" if failure.near else "the end of the statement"
        position = _describe_position(sql, failure.offset)
        return InvalidInput(
            f"Syntax error near {near} ({position}): {_reword_message(failure.message)}",
            remedy=_REMEDY,
        )
    missing = _MISSING.search(str(failure.__cause__ or failure))
    if missing is None:
        return InvalidInput("Syntax error: the text cannot be parsed.", remedy=_REMEDY)
    position = _describe_position(sql, int(missing[2]))
    return InvalidInput(
        f"Syntax error near {missing[1]} ({position}): it is not closed.",
        remedy=f"Close it with {missing[1]}.",
    )


def _describe_position(sql: str, offset: int) -> str:
    before = sql[:offset]
    line_start = before.rfind("\n") + 1
    return f"line {before.count(chr(10)) + 1}, column {offset - line_start + 1}"


def _reword_message(text: str) -> str:
    for pattern, message in _MESSAGES:
        match = pattern.match(text)
        if match:
            return match.expand(message).rstrip(".") + "."
    return text.rstrip(".") + "."
