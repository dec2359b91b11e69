"""Expected states of a table, each stored as an immutable DuckDB table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import pyarrow as pa

from tests.spark.oracle.values import Type, cast, duckdb_text, quoted, sql

KEY = "k"  # identifies rows, and is never updated


@dataclass(frozen=True)
class Column:
    """A column; its default is SQL text."""

    name: str
    type: Type
    default: str | None = None


@dataclass(frozen=True)
class State:
    """The expected rows of a table at one moment."""

    table: str
    columns: tuple[Column, ...]
    partition_keys: frozenset[str] = frozenset()


@dataclass
class Branch:
    """A catalog: the states of its table by snapshot, and the observed row ids."""

    alias: str
    now: State
    history: dict[int, State] = field(default_factory=dict)
    row_ids: dict[int, int] = field(default_factory=dict)

    def forked(self, alias: str, at: int) -> Branch:
        """Return a branch that begins with one of the past states."""
        past = {version: state for version, state in self.history.items() if version <= at}
        return Branch(alias, self.history[at], past, dict(self.row_ids))


Apply = Callable[[duckdb.DuckDBPyConnection, str], int | None]


class Oracle:
    """A DuckDB database of states."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self._count = 0

    def create(self, columns: Sequence[Column]) -> State:
        """Return an empty table."""
        self._count += 1
        name = f"state_{self._count}"
        defined = ", ".join(
            f"{quoted(one.name)} {sql(one.type)}"
            + (f" DEFAULT {cast(str(one.type), one.default)}" if one.default is not None else "")
            for one in columns
        )
        self.connection.execute(duckdb_text(f"CREATE TABLE {name} ({defined})"))
        return State(name, tuple(columns))

    def after(
        self, state: State, columns: tuple[Column, ...], apply: Apply
    ) -> tuple[State, int | None]:
        """Return the state after a statement, and the number of rows that it affected."""
        made = self.create(state.columns)
        self.connection.execute(f"INSERT INTO {made.table} FROM {state.table}")
        count = apply(self.connection, made.table)
        return replace(state, table=made.table, columns=columns), count

    def rows(self, state: State, where: str = "true") -> pa.Table:
        """Return the rows of a state that fulfill a condition."""
        text = f"SELECT * FROM {state.table} WHERE {where}"
        return self.connection.execute(duckdb_text(text)).to_arrow_table()

    def keys(self, state: State) -> list[int]:
        """Return the keys of all rows."""
        text = f"SELECT {KEY} FROM {state.table} ORDER BY 1"
        return [row[0] for row in self.connection.execute(text).fetchall()]


def comparable(rows: pa.Table) -> list[Any]:
    """Return sorted rows, with values that are equal only if they are indistinguishable."""
    found = rows.to_pylist()
    return sorted((tuple(map(_comparable, row.values())) for row in found), key=repr)


def _comparable(value: Any) -> Any:
    match value:
        case float():
            return "nan" if math.isnan(value) else value.hex()  # zeros have signs
        case dict():
            return tuple((name, _comparable(one)) for name, one in value.items())
        case list():
            return [_comparable(one) for one in value]
    return value
