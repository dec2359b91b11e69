"""Translation of the store's SQL to MySQL and MariaDB.

Statements are written once, in the subset that the other databases share. Where MySQL has other
syntax for the same thing, the rules below translate it; no other module depends on this.
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


def _select_values(match: re.Match[str]) -> str:
    return f"({' UNION ALL '.join(f'SELECT {one}' for one in re.findall(r'-?[0-9]+', match[1]))})"


# Translation rules. Reserved words are quoted, unless a dot stands before them.
_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<![.:\"'\w])(key|sql)\b(?![\"'(])"), r'"\1"'),
    (re.compile(r"\bAS MATERIALIZED \("), "AS ("),
    (re.compile(r"\(VALUES ((?:\(-?[0-9]+\)(?:, )?)+)\)"), _select_values),
    (re.compile(r"\bAS BIGINT\)"), "AS SIGNED)"),
    (re.compile(r"\bAS VARCHAR\)"), "AS CHAR)"),
    (re.compile(r"\blength\("), "char_length("),  # length of MySQL counts bytes
    (re.compile(r"\bON CONFLICT \([^)]*\)\s+DO UPDATE SET\b"), "ON DUPLICATE KEY UPDATE"),
    (re.compile(r"\bexcluded\.(\w+)"), r"VALUES(\1)"),
    (
        # A no-op update of existing rows. INSERT IGNORE would also suppress other errors.
        re.compile(r"^(\s*INSERT INTO (\w+) \((\w+)\b.*) ON CONFLICT DO NOTHING$", re.DOTALL),
        r"\1 ON DUPLICATE KEY UPDATE \2.\3 = \2.\3",
    ),
)
_DEFINITION = re.compile(r"\s*(CREATE|DROP|ALTER) ")
_RETURNING = re.compile(
    r"((?:DELETE FROM|UPDATE) (\w+)(?: SET (.*?))?( WHERE .*)) RETURNING (.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Form:
    """Translation of a statement: `text`, sent after `before`, whose rows are the result if given.

    Both have `%(name)s` for parameters. DDL (`is_definition`) implicitly commits a transaction.
    """

    text: str
    before: str = ""
    is_definition: bool = False


@lru_cache(maxsize=4096)
def form_of(sql: str) -> Form:
    """Return the translation of a statement."""
    found = _RETURNING.fullmatch(sql)
    if found:  # MySQL lacks RETURNING: rows are locked and read first, with their future values
        text, table, assigned, where, columns = found.groups()
        becoming = dict(one.split(" = ", 1) for one in (assigned or "").split(", ") if one)
        chosen = ", ".join(becoming.get(column, column) for column in columns.split(", "))
        return Form(
            _apply_rules(text), _apply_rules(f"SELECT {chosen} FROM {table}{where} FOR UPDATE")
        )
    if _DEFINITION.match(sql):  # rendered for MySQL
        return Form(sql.replace("%", "%%"), "", True)
    return Form(_apply_rules(sql))


def _apply_rules(sql: str) -> str:
    for pattern, words in _RULES:
        sql = pattern.sub(words, sql)
    return PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


# Values


@lru_cache(maxsize=4096)
def insert_head(table: str, columns: tuple[str, ...]) -> str:
    """Return INSERT … VALUES, to be followed by rows."""
    return _apply_rules(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ").replace("%%", "%")


def keeping_existing(table: str, column: str) -> str:
    """Return the end of an INSERT that leaves existing rows unchanged."""
    return f" ON DUPLICATE KEY UPDATE {table}.{column} = {table}.{column}"


def bound(text: str, parameters: Mapping[str, Any]) -> str:
    """Return the text with its parameters as literals."""
    return text % {name: literal(value) for name, value in parameters.items()}


def row_literal(row: Sequence[Any]) -> str:
    """Return a row as it is written after VALUES."""
    return f"({', '.join(map(literal, row))})"


def literal(value: Any) -> str:
    """Return a value as SQL for sessions with NO_BACKSLASH_ESCAPES."""
    return _LITERALS[type(value)](value)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("'%Y-%m-%d %H:%M:%S.%f'")


def _list(values: tuple[Any, ...]) -> str:
    return f"({', '.join(map(literal, values)) or 'NULL'})"  # IN () is not allowed


class _Literals(dict[type[Any], Callable[[Any], str]]):
    """Functions that write values as SQL, by type. A subclass is written like its base class."""

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
