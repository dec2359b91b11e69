"""Random typed expressions over the columns of one table.

The folder `expressions` contains a file of signatures for each family of functions, the columns of
the table with their values, and constants. A signature names the kinds of its arguments in braces:
a kind, a group of kinds, or a sort of constants. The kind of a result comes from DuckDB.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

FOLDER = Path(__file__).with_name("expressions")
FAMILIES = (
    *("numeric", "bitwise", "text", "regexp", "date", "interval", "list", "nested"),
    *("conditional", "comparison", "cast", "aggregate", "window"),
)
ROWS = 24
_LONGEST_NESTED = 60

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_SCALARS = (*_WHOLE, "HUGEINT", "DECIMAL", *_FLOATS, "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")
_ORDERED = (*_SCALARS, "TIME", "BLOB", "UUID", "TIMESTAMP WITH TIME ZONE")
_LISTS = ("INTEGER[]", "DOUBLE[]", "VARCHAR[]", "DATE[]", "BOOLEAN[]")
_STRUCT = "STRUCT(a INTEGER, b VARCHAR)"
KINDS: dict[str, tuple[str, ...]] = {
    "boolean": ("BOOLEAN",),
    "whole": _WHOLE,
    "index": ("TINYINT", "SMALLINT", "INTEGER"),
    "small": ("TINYINT",),
    "unsigned": (*_UNSIGNED, "HUGEINT"),
    "integer": (*_WHOLE, *_WHOLE, *_UNSIGNED, "HUGEINT"),
    "float": _FLOATS,
    "double": ("DOUBLE",),
    "decimal": ("DECIMAL",),
    "number": (*_WHOLE, *_WHOLE, *_UNSIGNED, "HUGEINT", "DECIMAL", *_FLOATS, "DECIMAL", "DOUBLE"),
    "plain number": (*_WHOLE, "DOUBLE", "DECIMAL"),
    "text": ("VARCHAR",),
    "blob": ("BLOB",),
    "uuid": ("UUID",),
    "date": ("DATE",),
    "time": ("TIME",),
    "timestamp": ("TIMESTAMP",),
    "timestamptz": ("TIMESTAMP WITH TIME ZONE",),
    "moment": ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
    "local moment": ("DATE", "TIMESTAMP"),
    "interval": ("INTERVAL",),
    "list": _LISTS,
    "list of number": ("INTEGER[]", "DOUBLE[]"),
    "list of integer": ("INTEGER[]",),
    "list of double": ("DOUBLE[]",),
    "list of text": ("VARCHAR[]",),
    "list of date": ("DATE[]",),
    "list of boolean": ("BOOLEAN[]",),
    "list of list": ("INTEGER[][]",),
    "struct": (_STRUCT,),
    "map": ("MAP(VARCHAR, INTEGER)",),
    "scalar": _SCALARS,
    "ordered": _ORDERED,
    "any": (*_ORDERED, *_LISTS, _STRUCT),
}


@dataclass(frozen=True)
class Column:
    """A column of the table, whose values are repeated over the rows."""

    name: str
    type: str
    values: tuple[str, ...]

    def cell(self, row: int) -> str:
        """Return the value of a row in SQL."""
        return f"CAST({self.values[row % len(self.values)]} AS {self.type})"


def _lines(name: str) -> list[str]:
    return FOLDER.joinpath(name).read_text().splitlines()


def _columns() -> list[Column]:
    found = []
    for line in _lines("columns.txt"):
        head, values = line.split(": ", 1)
        name, type = head.split(" ", 1)
        found.append(Column(name, type, tuple(values.split(" ; "))))
    return found


COLUMNS = _columns()
CONSTANTS = {
    line.split(": ", 1)[0]: line.split(": ", 1)[1].split(" ; ") for line in _lines("constants.txt")
}


def table_statements() -> list[str]:
    """Return the statements that create and fill the table, in the grammar of both engines."""
    columns = ", ".join(f"{one.name} {one.type}" for one in COLUMNS)
    rows = [f"({row + 1}, {', '.join(one.cell(row) for one in COLUMNS)})" for row in range(ROWS)]
    return [
        f"CREATE TABLE x (id INTEGER, {columns})",
        f"INSERT INTO x VALUES {', '.join(rows)}",
    ]


def signatures(family: str) -> list[str]:
    """Return the signatures of a family."""
    return _lines(f"{family}.txt")


@dataclass(frozen=True)
class Expression:
    """An expression with its signature and its type in DuckDB."""

    text: str
    signature: str
    type: str
    family: str


class Generator:
    """Distinct expressions that DuckDB can bind; kept ones are nested into others."""

    def __init__(self, seed: int, connection: duckdb.DuckDBPyConnection) -> None:
        self._random = random.Random(seed)
        self._connection = connection
        self._kept: dict[str, list[str]] = {}
        self._seen: set[str] = set()
        self._by_kind: dict[str, list[str]] = {}
        for one in COLUMNS:
            self._by_kind.setdefault(_kind(one.type), []).append(one.name)

    def make(self, family: str, count: int, skipped: Iterable[str] = ()) -> list[Expression]:
        """Return new expressions, about as many of each signature but the skipped ones."""
        left = [one for one in signatures(family) if one not in set(skipped)]
        self._random.shuffle(left)
        made: list[Expression] = []
        for attempt in range(20 * count if left else 0):
            if len(made) == count:
                break
            signature = left[attempt % len(left)]
            text = re.sub(r"\{([a-z ]+)\}", lambda found: self._argument(found[1]), signature)
            if text in self._seen:
                continue
            self._seen.add(text)
            if (type := self._type(text)) is not None:
                made.append(Expression(text, signature, type, family))
        return made

    def keep(self, expressions: Iterable[Expression]) -> None:
        """Keep expressions that never fail, for use inside of others."""
        for one in expressions:
            is_row_wise = one.family not in ("aggregate", "window")
            if is_row_wise and len(one.text) < _LONGEST_NESTED and self._never_fails(one.text):
                self._kept.setdefault(_kind(one.type), []).append(f"({one.text})")

    def _argument(self, name: str) -> str:
        if name in CONSTANTS:
            return self._random.choice(CONSTANTS[name])
        kind = self._random.choice(KINDS[name])
        kept = self._kept.get(kind, [])
        if kept and self._random.random() < 0.3:
            return self._random.choice(kept)
        return self._random.choice(self._by_kind.get(kind) or CONSTANTS["period"])

    def _type(self, text: str) -> str | None:
        try:
            found = self._connection.execute(f"DESCRIBE SELECT {text} FROM x").fetchall()
        except duckdb.Error:
            return None
        return str(found[0][1])

    def _never_fails(self, text: str) -> bool:
        try:
            self._connection.execute(f"SELECT {text} FROM x").to_arrow_table()
        except duckdb.Error:
            return False
        return True


def _kind(type: str) -> str:
    return "DECIMAL" if re.fullmatch(r"DECIMAL\(\d+, ?\d+\)", type) else type
