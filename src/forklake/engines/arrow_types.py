"""Types: how Arrow and Parquet represent each type of the lake.

`TYPES` is the one table; decimals are the same everywhere, and structs, lists and maps consist of
the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from forklake.errors import InvalidInput, Unsupported
from forklake.files.footers import node_paths
from forklake.model.fields import Field
from forklake.model.types import ColumnType
from forklake.model.values import decimal_digits, from_text


@dataclass(frozen=True, slots=True)
class Held:
    """Representation of one type of the lake in Arrow and Parquet, and its limits."""

    arrow: pa.DataType
    parquet: str
    limit: str = ""


_MICROSECONDS = "microseconds; bounds for the years 1 to 9999"
TYPES: dict[str, Held] = {
    "boolean": Held(pa.bool_(), "BOOLEAN"),
    "int8": Held(pa.int8(), "INT32 INT(8,true)"),
    "int16": Held(pa.int16(), "INT32 INT(16,true)"),
    "int32": Held(pa.int32(), "INT32"),
    "int64": Held(pa.int64(), "INT64"),
    "uint8": Held(pa.int16(), "INT32 INT(16,true)", "0 to 2^8-1, checked on write"),
    "uint16": Held(pa.int32(), "INT32", "0 to 2^16-1, checked on write"),
    "uint32": Held(pa.int64(), "INT64", "0 to 2^32-1, checked on write"),
    "uint64": Held(
        pa.decimal128(20, 0),
        "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,0)",
        "0 to 2^64-1, checked on write",
    ),
    "int128": Held(
        pa.decimal128(38, 0),
        "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,0)",
        "38 digits: -10^38+1 to 10^38-1",
    ),
    "uint128": Held(
        pa.decimal128(38, 0),
        "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,0)",
        "38 digits: 0 to 10^38-1, checked on write",
    ),
    "float32": Held(pa.float32(), "FLOAT"),
    "float64": Held(pa.float64(), "DOUBLE"),
    "varchar": Held(pa.string(), "BYTE_ARRAY STRING"),
    "json": Held(pa.string(), "BYTE_ARRAY STRING", "kept as text"),
    "uuid": Held(pa.string(), "BYTE_ARRAY STRING", "kept as text, lower case"),
    "blob": Held(pa.binary(), "BYTE_ARRAY"),
    "date": Held(pa.date32(), "INT32 DATE", "bounds for the years 1 to 9999"),
    "timestamp": Held(pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", _MICROSECONDS),
    "timestamp_s": Held(pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", "whole seconds"),
    "timestamp_ms": Held(pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", "milliseconds"),
    "timestamptz": Held(pa.timestamp("us", "UTC"), "INT64 TIMESTAMP(MICROS,true)", _MICROSECONDS),
    "time": Held(pa.time64("ns"), "INT64 TIME(MICROS,false)", "microseconds"),
}
# Types that tables may have, but whose values Spark cannot represent.
NOT_HELD = {
    "timestamp_ns": "Spark stores microseconds: use timestamp.",
    "timetz": "Spark has no time with a zone: use time, or timestamptz.",
    "interval": "Spark has no interval of months, days and microseconds: use int64 or varchar.",
}

Node = Field | ColumnType


def require_supported(column_type: Node | str, path: str = "") -> None:
    """Raise Unsupported, with the path of the node, if files cannot store the type."""
    if isinstance(column_type, str):
        column_type = ColumnType(column_type)
    parts = parts_of(column_type)
    if not parts:
        find_type(kind_of(column_type), path)
    for name, part in parts:
        require_supported(part, f"{path}.{name}" if path else name)


def arrow_type(node: Node) -> pa.DataType:
    """Return the Arrow type of a field or type, as Spark produces and accepts it."""
    match kind_of(node), [(name, arrow_type(part)) for name, part in parts_of(node)]:
        case "struct", parts:
            return pa.struct([pa.field(name, part) for name, part in parts])
        case "list", [(_, element)]:
            return pa.list_(pa.field("element", element))
        case "map", [(_, key), (_, value)]:
            return pa.map_(key, value)
        case kind, _:
            return find_type(kind).arrow


def arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    """Return the Arrow schema of a table, with logical names."""
    return pa.schema([pa.field(field.name, arrow_type(field)) for field in fields])


def field_ids(fields: Sequence[Field]) -> dict[str, int]:
    """Return the column id of every node of the Parquet schema: `a`, `s.x`, `l.list.element`, …"""
    ids: dict[str, int] = {}
    for path, field in node_paths(fields):
        if path in ids:
            raise Unsupported(
                f"Two columns have the same path in Parquet files: {path!r}.",
                remedy="Create the table without dots in its column names.",
            )
        ids[path] = int(field.column_id)
    return ids


def literal(text: str | None, field: Field) -> Any:
    """Return the Python value of a literal default."""
    if text is None:
        return None
    try:
        return from_text(field.type, text)
    except InvalidInput as reason:
        raise InvalidInput(
            f"The default of column {field.name!r} does not fit its type. {reason.message}",
            remedy="Change the default of the column.",
            column=field.name,
        ) from reason


def kind_of(node: Node) -> str:
    """Return the name of the type, without its parts."""
    return node.type if isinstance(node, Field) else node.name


def parts_of(node: Node) -> list[tuple[str, Node]]:
    """Return the types inside a nested one, with their names."""
    if isinstance(node, Field):
        return [(part.name, part) for part in node.fields]
    return list(node.fields)


def find_type(kind: str, path: str = "") -> Held:
    """Return the representation of a type; raise Unsupported, with the path, if there is none."""
    if kind.startswith("decimal"):
        precision, scale = decimal_digits(kind)
        return Held(pa.decimal128(precision, scale), "DECIMAL")
    if kind in TYPES:
        return TYPES[kind]
    column = f"The column {path!r} has" if path else "This is"
    raise Unsupported(
        f"{column} an unsupported type for data: {kind}.",
        remedy=NOT_HELD.get(kind, "Use one of: " + ", ".join(TYPES) + "."),
        type=kind,
    )
