"""The store's SQL in the words of MySQL and MariaDB.

Statements are written once, in the subset that the other databases share. Where these two have
other words for the same thing, a rule of the table below says which; nobody else needs to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from forklake.store.operations import PARAMETER

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _listed(match: re.Match[str]) -> str:
    return f"({' UNION ALL '.join(f'SELECT {one}' for one in re.findall(r'-?[0-9]+', match[1]))})"


# From the common words to theirs. Words that they reserve are quoted, unless a dot stands before.
_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<![.:\"'\w])(key|sql)\b(?![\"'(])"), r'"\1"'),
    (re.compile(r"\bAS MATERIALIZED \("), "AS ("),
    (re.compile(r"\(VALUES ((?:\(-?[0-9]+\)(?:, )?)+)\)"), _listed),
    (re.compile(r"\bAS BIGINT\)"), "AS SIGNED)"),
    (re.compile(r"\bAS VARCHAR\)"), "AS CHAR)"),
    (re.compile(r"\blength\("), "char_length("),  # theirs counts bytes
    (re.compile(r"\bON CONFLICT \([^)]*\)\s+DO UPDATE SET\b"), "ON DUPLICATE KEY UPDATE"),
    (re.compile(r"\bexcluded\.(\w+)"), r"VALUES(\1)"),
    (
        # What does nothing to a row that is there; INSERT IGNORE would pass over other errors too.
        re.compile(r"^(\s*INSERT INTO (\w+) \((\w+)\b.*) ON CONFLICT DO NOTHING$", re.DOTALL),
        r"\1 ON DUPLICATE KEY UPDATE \2.\3 = \2.\3",
    ),
    (re.compile(r"\bCREATE INDEX IF NOT EXISTS\b"), "CREATE INDEX"),
)
# The types of definitions: rows can be found by texts that are not too long.
_TYPES: tuple[Rule, ...] = (
    (re.compile(r"\bTIMESTAMPTZ\b"), "DATETIME(6)"),
    (re.compile(r"\bVARCHAR\b(?!\()"), "VARCHAR(255)"),
    (re.compile(r"\bTEXT\b"), "LONGTEXT"),
)
_DEFINITION = re.compile(r"\s*(CREATE|DROP|ALTER) ")
_RETURNING = re.compile(
    r"((?:DELETE FROM|UPDATE) (\w+)(?: SET (.*?))?( WHERE .*)) RETURNING (.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Form:
    """What is sent for a statement: `text`, after `before`, whose rows are the answer then.

    Both have `%(name)s` for parameters. A definition ends the transaction that it is sent in.
    """

    text: str
    before: str = ""
    is_definition: bool = False


@lru_cache(maxsize=4096)
def form_of(sql: str) -> Form:
    """How a statement of the store is sent."""
    found = _RETURNING.fullmatch(sql)
    if found:  # the rows are locked and read first, as they will be
        text, table, assigned, where, columns = found.groups()
        becoming = dict(one.split(" = ", 1) for one in (assigned or "").split(", ") if one)
        chosen = ", ".join(becoming.get(column, column) for column in columns.split(", "))
        return Form(_worded(text), _worded(f"SELECT {chosen} FROM {table}{where} FOR UPDATE"))
    is_definition = bool(_DEFINITION.match(sql))
    return Form(_worded(sql, _TYPES + _RULES if is_definition else _RULES), "", is_definition)


def _worded(sql: str, rules: Sequence[Rule] = _RULES) -> str:
    for pattern, words in rules:
        sql = pattern.sub(words, sql)
    return PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


# Values


@lru_cache(maxsize=4096)
def insert_head(table: str, columns: tuple[str, ...]) -> str:
    """INSERT … VALUES, to be followed by rows."""
    return _worded(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ").replace("%%", "%")


def keeping_existing(table: str, column: str) -> str:
    """What ends an INSERT that leaves rows as they are which are there already."""
    return f" ON DUPLICATE KEY UPDATE {table}.{column} = {table}.{column}"


def bound(text: str, parameters: Mapping[str, Any]) -> str:
    """The text with its parameters written out."""
    return text % {name: literal(value) for name, value in parameters.items()}


def row_literal(row: Sequence[Any]) -> str:
    """A row as it stands after VALUES."""
    return f"({', '.join(map(literal, row))})"


def literal(value: Any) -> str:
    """A value as SQL, for connections in which a backslash is a letter like any other."""
    return _LITERALS[type(value)](value)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("'%Y-%m-%d %H:%M:%S.%f'")


def _list(values: tuple[Any, ...]) -> str:
    return f"({', '.join(map(literal, values)) or 'NULL'})"  # nothing is one of no values


class _Literals(dict[type[Any], Callable[[Any], str]]):
    """How values are written, by type; a kind of text or number is written as one."""

    def __missing__(self, kind: type[Any]) -> Callable[[Any], str]:
        self[kind] = next(self[base] for base in kind.__mro__[1:] if base in self)
        return self[kind]


_LITERALS = _Literals()
_LITERALS[type(None)] = lambda _: "NULL"
_LITERALS[bool] = lambda value: "TRUE" if value else "FALSE"
_LITERALS[int] = int.__str__
_LITERALS[float] = float.__repr__
_LITERALS[str] = _text
_LITERALS[bytes] = lambda value: f"X'{value.hex()}'"
_LITERALS[datetime] = _moment
_LITERALS[tuple] = _list
