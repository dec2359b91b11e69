"""Model of a workbook: its worktasks with their inputs, outputs and checks.

The fields are the keys of the file of a workbook, as `loading` reads it. Rules that the type of a
field cannot express are checked in `__post_init__`, which raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

Value: TypeAlias = bool | int | float | str | datetime | date
_CLOSED: dict[str, Any] = {"extra": "forbid"}  # for pydantic: unknown keys are errors


class Isolation(StrEnum):
    """When other readers see the changes of a run."""

    DIRECT = "direct"  # each worktask commits to the catalog
    TRANSACTION = "transaction"  # all worktasks are committed as one snapshot
    FORK = "fork"  # worktasks change a fork, which is merged if all succeed


class Mode(StrEnum):
    """How rows are written to a table, and what happens to its existing rows."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    MERGE = "merge"  # rows with the same key are updated
    REPLACE_WHERE = "replace_where"  # rows that satisfy a condition are replaced


class FileFormat(StrEnum):
    """Formats of files that inputs can read."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Input:
    """Rows of one source that a worktask reads under a name."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    csv: str | tuple[str, ...] | None = None
    json: str | tuple[str, ...] | None = None
    parquet: str | tuple[str, ...] | None = None
    jdbc: str | None = None  # address of a database; with `table` or `query`
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
            raise ValueError("query can only be used with jdbc")
        elif self.table is not None:
            sources.append("table")
        if len(sources) != 1:
            raise ValueError("exactly one of csv, json, parquet, jdbc, delta, table is required")
        if self.snapshot is not None and sources[0] not in ("table", "delta"):
            raise ValueError("snapshot can only be used with table or delta")

    def has(self, name: str) -> bool:
        """Return whether a source is set."""
        return getattr(self, name) is not None

    @property
    def files(self) -> tuple[FileFormat, tuple[str, ...]] | None:
        """Format and paths, if the input reads files."""
        for one in FileFormat:
            paths = getattr(self, one)
            if paths is not None:
                return one, (paths,) if isinstance(paths, str) else tuple(paths)
        return None


@dataclass(frozen=True, slots=True)
class Output:
    """Table that a worktask writes to. It is created if it does not exist."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    table: str
    mode: Mode = Mode.APPEND
    key: tuple[str, ...] = ()
    where: str | None = None
    partition_by: tuple[str, ...] = ()
    delta: str | None = None  # location to publish it as a Delta table after the run

    def __post_init__(self) -> None:
        if (self.mode is Mode.MERGE) != bool(self.key):
            raise ValueError("key is required with mode merge, and not allowed otherwise")
        if (self.mode is Mode.REPLACE_WHERE) != (self.where is not None):
            raise ValueError("where is required with mode replace_where, and not allowed otherwise")


@dataclass(frozen=True, slots=True)
class RowCount:
    """Allowed number of rows."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    min: int | None = None
    max: int | None = None
    equals: int | None = None

    def __post_init__(self) -> None:
        if self.min is self.max is self.equals is None:
            raise ValueError("at least one of min, max and equals is required")

    def allows(self, count: int) -> bool:
        """Return whether a number of rows is allowed."""
        return (
            (self.min is None or count >= self.min)
            and (self.max is None or count <= self.max)
            and (self.equals is None or count == self.equals)
        )

    def __str__(self) -> str:
        bounds = (("at least", self.min), ("at most", self.max), ("exactly", self.equals))
        return " and ".join(f"{word} {limit:,}" for word, limit in bounds if limit is not None)


@dataclass(frozen=True, slots=True)
class Check:
    """Condition on the output of a worktask, or on another table, checked after the worktask."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    row_count: RowCount | None = None
    not_null: tuple[str, ...] | None = None
    unique: tuple[str, ...] | None = None
    accepted: Mapping[str, tuple[Value, ...]] | None = None
    sql: str | None = None  # a query that must return no rows
    name: str | None = None
    table: str | None = None
    where: str | None = None  # limits the check to some rows
    warn: bool = False  # report a failure as a warning, and continue

    def __post_init__(self) -> None:
        _require_one(self, "row_count", "not_null", "unique", "accepted", "sql")
        if self.sql is not None and (self.table is not None or self.where is not None):
            raise ValueError("table and where cannot be used with sql: write them into the query")
        for name in ("not_null", "unique", "accepted"):
            if getattr(self, name) is not None and not getattr(self, name):
                raise ValueError(f"{name} has no columns")


@dataclass(frozen=True, slots=True)
class Worktask:
    """One step of a workbook: SQL, or a function over DataFrames."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    name: str
    sql: str | None = None
    python: Callable[..., Any] | str | None = None  # or `file.py:function`
    inputs: Mapping[str, Input] = field(default_factory=dict)
    output: Output | None = None
    after: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    retries: int = 3  # after transient errors: conflicts, lost connections
    timeout_seconds: float | None = None  # for all tries together
    atomic: bool = True  # one snapshot that includes the checks, or none
    description: str = ""

    def __post_init__(self) -> None:
        _require_one(self, "sql", "python")
        if self.retries < 0:
            raise ValueError("retries must be 0 or more")
        if self.timeout_seconds is not None and not self.timeout_seconds > 0:
            raise ValueError("timeout_seconds must be more than 0")
        for check in self.checks:
            if check.sql is None and check.table is None and self.output is None:
                raise ValueError("a check without table needs a task with an output")


@dataclass(frozen=True, slots=True)
class Workbook:
    """Worktasks by name, with defaults for running them."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _CLOSED

    name: str
    tasks: Mapping[str, Worktask]
    catalog: str | None = None
    isolation: Isolation = Isolation.DIRECT
    workers: int = 4
    keep_going: bool = False
    parameters: Mapping[str, Value] = field(default_factory=dict)  # with their defaults
    required: tuple[str, ...] = ()  # parameters without a default
    fork_seconds: int = 86_400  # time to live of the fork of a run
    description: str = ""
    folder: str = "."  # base of relative paths

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ValueError("the workbook has no tasks")
        if self.workers < 1:
            raise ValueError("workers must be at least 1")
        if self.fork_seconds < 1:
            raise ValueError("fork_seconds must be at least 1")


def _require_one(value: object, *names: str) -> None:
    given = [name for name in names if getattr(value, name) is not None]
    if len(given) != 1:
        raise ValueError(f"exactly one of {', '.join(names)} is required")
