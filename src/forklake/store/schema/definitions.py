"""Definitions: the statements that create the schema, rendered from its description."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from forklake.store.schema.description import Backend, Column, Index, Table


class Kind(Enum):
    """What a definition creates."""

    SETTING = "setting"  # of the database or of a column
    SEQUENCE = "sequence"
    TABLE = "table"
    INDEX = "index"
    VIEW = "view"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Definition:
    """Statement of the schema, and the name of what it creates.

    Args:
        section: comment on the definitions from this one on.
        settings: storage parameters of a table, each as `name=value`.
    """

    kind: Kind
    name: str
    text: str
    comment: str = ""
    section: str = ""
    settings: frozenset[str] = frozenset()


class Style(Protocol):
    """Form that DDL has in one database."""

    @property
    def backend(self) -> Backend:
        """Database that executes the statements."""
        ...

    @property
    def reserved(self) -> frozenset[str]:
        """Words that must be quoted as names of columns."""
        ...

    @property
    def has_partial_indexes(self) -> bool:
        """Whether an index can have a condition."""
        ...

    def declare(self, column: Column) -> str:
        """Return the type of a column, and how its values are made and compared."""
        ...

    def index(self, column: Column, index: Index) -> str:
        """Return what follows a column in an index."""
        ...

    def finish(self, table: Table) -> str:
        """Return what follows the columns of a table."""
        ...

    def settings(self, table: Table) -> frozenset[str]:
        """Return the storage parameters of a table, each as `name=value`."""
        ...

    def extend(self, table: Table) -> Iterator[Definition]:
        """Yield further definitions that belong to a table."""
        ...


def define_table(table: Table, style: Style) -> Iterator[Definition]:
    """Yield the definitions of a table and of its indexes."""
    text = f"CREATE TABLE {table.name} {_body(table, style)}{style.finish(table)}"
    settings = style.settings(table)
    yield Definition(Kind.TABLE, table.name, text, table.comment, table.section, settings)
    yield from style.extend(table)
    for index in table.indexes_in(style.backend):
        yield _define_index(table, index, style)


def _body(table: Table, style: Style) -> str:
    first, *others = table.columns_in(style.backend)
    is_key = table.key == (first.name,)
    lines = [f"{_name(first.name, style)} {style.declare(first)}{_constraint(first, is_key)}"]
    lines += [f"{_name(one.name, style)} {style.declare(one)}{_constraint(one)}" for one in others]
    if table.key and not is_key:
        lines.append(f"PRIMARY KEY ({', '.join(_name(one, style) for one in table.key)})")
    return "(\n    " + ",\n    ".join(lines) + "\n)"


def _define_index(table: Table, index: Index, style: Style) -> Definition:
    known = {column.name: column for column in table.columns}
    columns = [f"{_name(name, style)}{style.index(known[name], index)}" for name in index.columns]
    unique = "UNIQUE " if index.is_unique else ""
    where = f"\n    WHERE {index.where}" if index.where and style.has_partial_indexes else ""
    text = f"CREATE {unique}INDEX {index.name} ON {table.name} ({', '.join(columns)}){where}"
    return Definition(Kind.INDEX, index.name, text, index.comment)


def _constraint(column: Column, is_key: bool = False) -> str:
    if is_key:
        return " PRIMARY KEY"
    null = "" if column.is_nullable else " NOT NULL"
    return f"{null} UNIQUE" if column.is_unique else null


def _name(column: str, style: Style) -> str:
    return f'"{column}"' if column in style.reserved else column
