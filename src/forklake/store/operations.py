"""Operations that are sent to a metadata database: statements, bulk inserts, id allocation.

SQL is written once, in the subset that PostgreSQL, SQLite and DuckDB share, with `:name` for
parameters. Each connection converts it to its driver's style, and that of MySQL also the syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from forklake.model.ids import SnapshotId

Values = tuple[Any, ...]
PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL statement with its parameters.

    `is_plain_read`: a SELECT of numbers, texts and booleans only, which may be combined with
    others. `names_rows`: it changes only rows that it identifies by number, so that it does not
    matter which others are inserted before it.
    """

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_plain_read: bool = False
    names_rows: bool = False


@dataclass(frozen=True, slots=True)
class Insert:
    """Rows for one table. The connection chooses the fastest way for their number."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[Values]
    skips_existing: bool = False


@dataclass(frozen=True, slots=True)
class Allocate:
    """Request for snapshot ids, and for ids of new entities and files."""

    entities: int = 0
    files: int = 0
    snapshots: int = 1


@dataclass(frozen=True, slots=True)
class Allocation:
    """Allocated ids, the next values of the counters, and the time of the database."""

    snapshot_ids: Sequence[SnapshotId]
    entity_ids: Sequence[int]
    file_ids: Sequence[int]
    next_entity_id: int
    next_file_id: int
    now: datetime

    @property
    def snapshot_id(self) -> SnapshotId:
        """First allocated snapshot id."""
        return self.snapshot_ids[0]


Operation = Statement | Insert | Allocate


@lru_cache(maxsize=4096)
def with_parameters(sql: str, style: Callable[[str], str]) -> str:
    """Return the statement in a driver's parameter style."""
    return PARAMETER.sub(lambda match: style(match[1]), sql)


@lru_cache(maxsize=4096)
def parameter_names(sql: str) -> tuple[str, ...]:
    """Return the names of a statement's parameters."""
    return tuple(dict.fromkeys(PARAMETER.findall(sql)))


@lru_cache(maxsize=4096)
def insert_text(insert: tuple[str, tuple[str, ...], int, bool], placeholder: str) -> str:
    """Return INSERT … VALUES for a number of rows."""
    table, columns, count, skips_existing = insert
    row = f"({', '.join([placeholder] * len(columns))})"
    text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * count)}"
    return f"{text} ON CONFLICT DO NOTHING" if skips_existing else text


def flattened(rows: Iterable[Values]) -> list[Any]:
    """Return the values of all rows in one list."""
    return [value for row in rows for value in row]
