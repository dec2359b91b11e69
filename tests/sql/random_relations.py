"""Random tables, and the columns, sources and queries that random statements refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

INT, TEXT, BOOL, DECIMAL, DATE = "int", "text", "bool", "decimal", "date"

# Columns of tables: equal names have equal kinds everywhere, so that tables can be joined by them.
POOL = {
    "a": (INT, "INTEGER"),
    "b": (INT, "BIGINT"),
    "k": (INT, "INTEGER"),
    "j": (INT, "INTEGER"),
    "s": (TEXT, "VARCHAR"),
    "w": (TEXT, "VARCHAR"),
    "f": (BOOL, "BOOLEAN"),
    "d": (DECIMAL, "DECIMAL(8,2)"),
    "e": (DATE, "DATE"),
}
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_KINDS_OF_TYPES = {
    "INTEGER": INT,
    "BIGINT": INT,
    "HUGEINT": INT,
    "VARCHAR": TEXT,
    "BOOLEAN": BOOL,
    "DATE": DATE,
}


def kind_of_type(type_name: str) -> str | None:
    """Return the kind of a DuckDB type, or None if no expressions use it."""
    return DECIMAL if type_name.startswith("DECIMAL") else _KINDS_OF_TYPES.get(type_name)


@dataclass(frozen=True, slots=True)
class Ref:
    """A column as an expression refers to it."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view: its name and its columns, with their kinds and types."""

    name: str
    columns: dict[str, tuple[str, str]]
    is_view: bool = False


@dataclass(slots=True)
class Source:
    """One relation in FROM: its text, its alias, and its columns."""

    text: str
    alias: str
    columns: dict[str, str]


@dataclass(slots=True)
class From:
    """A FROM clause, with everything that SELECT can refer to."""

    text: str
    refs: list[Ref]
    names: list[str]  # of the columns of `*`
    aliases: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Query:
    """A query with the columns of its result."""

    text: str
    columns: dict[str, str]


Describe = Callable[[str], dict[str, str] | None]


def make_tables(random: Random) -> list[Table]:
    """Return two or three tables of three to five columns."""
    made = []
    for number in range(random.randint(2, 3)):
        names = ["k", *random.sample([one for one in POOL if one != "k"], random.randint(2, 4))]
        random.shuffle(names)
        made.append(Table(f"r{number}", {name: POOL[name] for name in names}))
    return made
