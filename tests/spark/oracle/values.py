"""Column types as DuckDB, Forklake and Arrow name them, with random values and literals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from forklake.model.types import ColumnType, as_type, list_of, struct_of


@dataclass(frozen=True)
class Struct:
    """A struct with named fields."""

    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class ListOf:
    """A list."""

    element: Type


Type = str | Struct | ListOf

_SQL = {
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "varchar": "STRING",
}
_ARROW = {
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "varchar": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
# Types that a column may be widened to.
WIDER = {
    "int16": ["int32", "int64", "float32", "float64"],
    "int32": ["int64", "float64"],
    "float32": ["float64"],
    "date": ["timestamp"],
    "decimal(9,2)": ["decimal(12,2)", "decimal(18,4)"],
    "decimal(12,2)": ["decimal(18,4)"],
}
# Only negative zeros: DuckDB keeps the old one when a zero is updated to the one of the other sign.
_VALUES: dict[str, list[Any]] = {
    "int16": [1, 2, 3, 5, 8, -1, 32767, -32768],
    "int32": [1, 2, 3, 5, 8, -1, 2**31 - 1, -(2**31)],
    "int64": [1, 2, 3, 5, 8, -1, 2**63 - 1, -(2**63)],
    "float32": [-0.0, 1.5, -2.25, 3.0, float("nan"), float("inf")],
    "float64": [-0.0, 1.5, -2.25, 3.0, 1e300, float("nan"), float("inf"), float("-inf")],
    "varchar": ["", "a", "ab", "abc", "b", "B", "zebra", "é", "𝄞 clef", "it's", "x" * 300],
    "boolean": [True, False],
    "date": [date(2024, month, 28) for month in (1, 2, 6)] + [date(1969, 12, 31), date(9999, 1, 1)],
    "timestamp": [datetime(2024, month, 28, 23, 59, 59, 999999) for month in (1, 2, 6)]  # noqa: DTZ001
    + [datetime(1969, 12, 31, 1), datetime(2024, 1, 28), datetime(1500, 1, 1)],  # noqa: DTZ001
}
_DECIMALS = [Decimal(text) for text in ("0", "1.5", "-2.25", "3", "99999.99", "-0.01")]


def sql(kind: Type) -> str:
    """Return the DuckDB type."""
    match kind:
        case Struct(fields):
            return f"STRUCT({', '.join(f'{quoted(name)} {sql(own)}' for name, own in fields)})"
        case ListOf(element):
            return f"{sql(element)}[]"
    return _SQL.get(kind, kind)


def lake(kind: Type) -> ColumnType:
    """Return the Forklake type."""
    match kind:
        case Struct(fields):
            return struct_of([(name, lake(own)) for name, own in fields])
        case ListOf(element):
            return list_of(lake(element))
    return as_type(kind)


def arrow(kind: Type) -> pa.DataType:
    """Return the Arrow type."""
    match kind:
        case Struct(fields):
            return pa.struct([(name, arrow(own)) for name, own in fields])
        case ListOf(element):
            return pa.list_(arrow(element))
    if kind.startswith("decimal"):
        precision, scale = kind.removeprefix("decimal(").rstrip(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    return _ARROW[kind]


def value(kind: Type, random: Random) -> Any:
    """Return a random value, or None."""
    if random.random() < 0.2:
        return None
    match kind:
        case Struct(fields):
            return {name: value(own, random) for name, own in fields}
        case ListOf(element):
            return [value(element, random) for _ in range(random.randrange(3))]
    return random.choice(_DECIMALS if kind.startswith("decimal") else _VALUES[kind])


def literal(kind: str, random: Random) -> str:
    """Return a random value that is not null, as SQL of both dialects."""
    return cast(kind, default_text(kind, random))


def default_text(kind: str, random: Random) -> str:
    """Return a random plain value as text."""
    if kind == "varchar":
        return random.choice(["", "a", "ab", "b", "zebra", "é"])
    if kind.startswith("decimal"):
        return str(random.choice(_DECIMALS))
    found = random.choice([one for one in _VALUES[kind] if one is not None])
    if isinstance(found, float):
        found = random.choice([-0.0, 1.5, -2.25, 3.0])
    return str(found).lower()


def cast(kind: str, text: str) -> str:
    """Return a cast of a text to a type, as Spark SQL."""
    return f"CAST('{text}' AS {'TIMESTAMP_NTZ' if kind == 'timestamp' else _SQL.get(kind, kind)})"


def quoted(name: str) -> str:
    """Return a name quoted for Spark; `duckdb_text` converts the quotes."""
    return f"`{name}`"


def duckdb_text(text: str) -> str:
    """Return Spark SQL as DuckDB SQL."""
    return text.replace("`", '"').replace("TIMESTAMP_NTZ", "TIMESTAMP")
