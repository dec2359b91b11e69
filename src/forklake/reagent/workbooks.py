"""What a workbook says: its worktasks, what they read and write, and what must hold afterwards.

The fields are the keys of a workbook's file, as `loading` reads it. What a single value cannot
tell by its type is checked where it is made, by a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

Value: TypeAlias = bool | int | float | str | datetime | date
_CLOSED: dict[str, Any] = {"extra": "forbid"}  # for pydantic: a key that is not here is wrong


class Isolation(StrEnum):
    """Who sees what of a run, and when."""

    DIRECT = "direct"  # each worktask commits to the catalog
    TRANSACTION = "transaction"  # all of them are one snapshot
    FORK = "fork"  # they work in a fork, which is merged when all is well


class Mode(StrEnum):
    """What becomes of the rows that a table has."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    MERGE = "merge"  # rows with the same key are updated
    REPLACE_WHERE = "replace_where"  # rows that fulfil a condition go


class FileFormat(StrEnum):
    """Files that can be read."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Input:
    """Rows that a worktask reads under a name of its own: of one source."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    csv: str | tuple[str, ...] | None = None
    json: str | tuple[str, ...] | None = None
    parquet: str | tuple[str, ...] | None = None
    jdbc: str | None = None  # the address; `table` or `query` says what is read there
    delta: str | None = None  # the name or the location of a Delta table
    table: str | None = None
    query: str | None = None
    snapshot: int | str | None = None  # of a table; the version of a Delta table
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sources = [name for name in ("csv", "json", "parquet", "jdbc", "delta") if self.has(name)]
        if self.jdbc is not None:
            _require_one(self, "table", "query")
        elif self.query is not None:
            raise ValueError("query goes with jdbc")
        elif self.table is not None:
            sources.append("table")
        if len(sources) != 1:
            raise ValueError("give one of csv, json, parquet, jdbc, delta, table")
        if self.snapshot is not None and sources[0] not in ("table", "delta"):
            raise ValueError("snapshot goes with table or delta")

    def has(self, name: str) -> bool:
        """Whether a source is given."""
        return getattr(self, name) is not None

    @property
    def files(self) -> tuple[FileFormat, tuple[str, ...]] | None:
        """The format and the paths, if it reads files."""
        for one in FileFormat:
            paths = getattr(self, one)
            if paths is not None:
                return one, (paths,) if isinstance(paths, str) else tuple(paths)
        return None


@dataclass(frozen=True, slots=True)
class Output:
    """The table to which a worktask writes its rows; it is made if need be."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    table: str
    mode: Mode = Mode.APPEND
    key: tuple[str, ...] = ()
    where: str | None = None
    partition_by: tuple[str, ...] = ()
    delta: str | None = None  # after the run it is also a Delta table, there

    def __post_init__(self) -> None:
        if (self.mode is Mode.MERGE) != bool(self.key):
            raise ValueError("mode merge, and no other, takes a key")
        if (self.mode is Mode.REPLACE_WHERE) != (self.where is not None):
            raise ValueError("mode replace_where, and no other, takes a where")


@dataclass(frozen=True, slots=True)
class RowCount:
    """How many rows there may be."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    min: int | None = None
    max: int | None = None
    equals: int | None = None

    def __post_init__(self) -> None:
        if self.min is self.max is self.equals is None:
            raise ValueError("give min, max or equals")

    def allows(self, count: int) -> bool:
        """Whether a number of rows is right."""
        return (
            (self.min is None or count >= self.min)
            and (self.max is None or count <= self.max)
            and (self.equals is None or count == self.equals)
        )

    def __str__(self) -> str:
        told = (("at least", self.min), ("at most", self.max), ("exactly", self.equals))
        return " and ".join(f"{word} {limit:,}" for word, limit in told if limit is not None)


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold after a worktask: of its output, or of another table."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    row_count: RowCount | None = None
    not_null: tuple[str, ...] | None = None
    unique: tuple[str, ...] | None = None
    accepted: Mapping[str, tuple[Value, ...]] | None = None
    sql: str | None = None  # a query that must find no rows
    name: str | None = None
    table: str | None = None
    where: str | None = None  # which of its rows are looked at
    warn: bool = False  # tell of it, and go on

    def __post_init__(self) -> None:
        _require_one(self, "row_count", "not_null", "unique", "accepted", "sql")
        if self.sql is not None and (self.table is not None or self.where is not None):
            raise ValueError("sql names its tables itself: leave table and where out")
        for name in ("not_null", "unique", "accepted"):
            if getattr(self, name) is not None and not getattr(self, name):
                raise ValueError(f"{name} names no columns")


@dataclass(frozen=True, slots=True)
class Worktask:
    """One step: SQL, or a function over DataFrames."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    name: str
    sql: str | None = None
    python: Callable[..., Any] | str | None = None  # or `file.py:function`
    inputs: Mapping[str, Input] = field(default_factory=dict)
    output: Output | None = None
    after: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    retries: int = 3  # of errors that pass: conflicts, lost connections
    timeout_seconds: float | None = None  # with all its tries
    atomic: bool = True  # one snapshot, checks included, or none
    description: str = ""

    def __post_init__(self) -> None:
        _require_one(self, "sql", "python")
        if self.retries < 0:
            raise ValueError("retries cannot be negative")
        if self.timeout_seconds is not None and not self.timeout_seconds > 0:
            raise ValueError("timeout_seconds must be more than zero")
        for check in self.checks:
            if check.sql is None and check.table is None and self.output is None:
                raise ValueError("a check of a worktask without output names its table")


@dataclass(frozen=True, slots=True)
class Workbook:
    """Worktasks by name, and how they run unless whoever runs them says otherwise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    name: str
    tasks: Mapping[str, Worktask]
    catalog: str | None = None
    isolation: Isolation = Isolation.DIRECT
    workers: int = 4
    keep_going: bool = False
    parameters: Mapping[str, Value] = field(default_factory=dict)  # with what they are by default
    required: tuple[str, ...] = ()  # parameters without a default
    fork_seconds: int = 86_400  # after which a fork that was left behind goes by itself
    description: str = ""
    folder: str = "."  # that paths are relative to

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ValueError("there are no tasks")
        if self.workers < 1:
            raise ValueError("workers must be at least 1")
        if self.fork_seconds < 1:
            raise ValueError("fork_seconds must be at least 1")


def _require_one(value: object, *names: str) -> None:
    given = [name for name in names if getattr(value, name) is not None]
    if len(given) != 1:
        raise ValueError(f"give one of {', '.join(names)}")
