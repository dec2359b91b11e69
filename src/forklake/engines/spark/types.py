"""Types: how Spark, Arrow and Parquet represent each type of the lake, and the way back.

`TYPES` is the one table; decimals are the same everywhere, and structs, lists and maps consist of
the others. The Spark session runs in UTC. A Spark type maps back to the first lake type with that
representation: an `int16` written by Spark never becomes a `uint8`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    TimeType,
    VarcharType,
)

from forklake.errors import InvalidInput, Unsupported
from forklake.files.footers import node_paths
from forklake.model.fields import Field
from forklake.model.types import ColumnSpec, ColumnType, list_of, map_of, struct_of
from forklake.model.values import decimal_digits, from_text, to_text


@dataclass(frozen=True, slots=True)
class Held:
    """Representation of one type of the lake, and its limits."""

    spark: DataType
    arrow: pa.DataType
    parquet: str
    limit: str = ""


_MICROSECONDS = "microseconds; bounds for the years 1 to 9999"
TYPES: dict[str, Held] = {
    "boolean": Held(BooleanType(), pa.bool_(), "BOOLEAN"),
    "int8": Held(ByteType(), pa.int8(), "INT32 INT(8,true)"),
    "int16": Held(ShortType(), pa.int16(), "INT32 INT(16,true)"),
    "int32": Held(IntegerType(), pa.int32(), "INT32"),
    "int64": Held(LongType(), pa.int64(), "INT64"),
    "uint8": Held(ShortType(), pa.int16(), "INT32 INT(16,true)", "0 to 2^8-1, checked on write"),
    "uint16": Held(IntegerType(), pa.int32(), "INT32", "0 to 2^16-1, checked on write"),
    "uint32": Held(LongType(), pa.int64(), "INT64", "0 to 2^32-1, checked on write"),
    "uint64": Held(
        DecimalType(20, 0),
        pa.decimal128(20, 0),
        "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,0)",
        "0 to 2^64-1, checked on write",
    ),
    "int128": Held(
        DecimalType(38, 0),
        pa.decimal128(38, 0),
        "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,0)",
        "38 digits: -10^38+1 to 10^38-1",
    ),
    "uint128": Held(
        DecimalType(38, 0),
        pa.decimal128(38, 0),
        "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,0)",
        "38 digits: 0 to 10^38-1, checked on write",
    ),
    "float32": Held(FloatType(), pa.float32(), "FLOAT"),
    "float64": Held(DoubleType(), pa.float64(), "DOUBLE"),
    "varchar": Held(StringType(), pa.string(), "BYTE_ARRAY STRING"),
    "json": Held(StringType(), pa.string(), "BYTE_ARRAY STRING", "kept as text"),
    "uuid": Held(StringType(), pa.string(), "BYTE_ARRAY STRING", "kept as text, lower case"),
    "blob": Held(BinaryType(), pa.binary(), "BYTE_ARRAY"),
    "date": Held(DateType(), pa.date32(), "INT32 DATE", "bounds for the years 1 to 9999"),
    "timestamp": Held(
        TimestampNTZType(), pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", _MICROSECONDS
    ),
    "timestamp_s": Held(
        TimestampNTZType(), pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", "whole seconds"
    ),
    "timestamp_ms": Held(
        TimestampNTZType(), pa.timestamp("us"), "INT64 TIMESTAMP(MICROS,false)", "milliseconds"
    ),
    "timestamptz": Held(
        TimestampType(), pa.timestamp("us", "UTC"), "INT64 TIMESTAMP(MICROS,true)", _MICROSECONDS
    ),
    "time": Held(TimeType(6), pa.time64("ns"), "INT64 TIME(MICROS,false)", "microseconds"),
}
# Types that tables may have, but whose values Spark cannot represent.
NOT_HELD = {
    "timestamp_ns": "Spark stores microseconds: use timestamp.",
    "timetz": "Spark has no time with a zone: use time, or timestamptz.",
    "interval": "Spark has no interval of months, days and microseconds: use int64 or varchar.",
}


# From the lake to Spark and Arrow

STORED = "forklake.type"  # key in the metadata of a column whose Spark type does not identify it

Node = Field | ColumnType


def require_supported(column_type: Node | str, path: str = "") -> None:
    """Raise Unsupported, with the path of the node, if Spark cannot represent the type."""
    if isinstance(column_type, str):
        column_type = ColumnType(column_type)
    parts = _parts(column_type)
    if not parts:
        _find_type(_kind(column_type), path)
    for name, part in parts:
        require_supported(part, f"{path}.{name}" if path else name)


def spark_type(node: Node) -> DataType:
    """Return the Spark type of a field or type, with logical names."""
    return _spark(node, lambda field: field.name)


def shown_field(field: Field) -> StructField:
    """Return a column of a `scan`, with its stored type in the metadata if Spark has another."""
    return StructField(field.name, spark_type(field), metadata=stored_type(field))


def stored_type(field: Field) -> dict[str, str]:
    """Return the metadata of a column with its stored type."""
    return {STORED: field.type} if field.type == "uuid" else {}


def logical_schema(fields: Sequence[Field]) -> StructType:
    """Return the schema of a table as users see it."""
    return StructType(
        [StructField(field.name, spark_type(field), field.nulls_allowed) for field in fields]
    )


def physical_schema(fields: Sequence[Field]) -> StructType:
    """Return the schema of a table as its files store it.

    Every column is nullable, because a file may lack it.
    """
    return StructType(
        [
            StructField(field.physical_name, _spark(field, lambda one: one.physical_name))
            for field in fields
        ]
    )


def arrow_type(node: Node) -> pa.DataType:
    """Return the Arrow type of a field or type, as Spark produces and accepts it."""
    match _kind(node), [(name, arrow_type(part)) for name, part in _parts(node)]:
        case "struct", parts:
            return pa.struct([pa.field(name, part) for name, part in parts])
        case "list", [(_, element)]:
            return pa.list_(pa.field("element", element))
        case "map", [(_, key), (_, value)]:
            return pa.map_(key, value)
        case kind, _:
            return _find_type(kind).arrow


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


def _spark(node: Node, name_of: Callable[[Field], str]) -> DataType:
    match _kind(node), _parts(node):
        case "struct", parts:
            return StructType(
                [
                    StructField(
                        name_of(part) if isinstance(part, Field) else name, _spark(part, name_of)
                    )
                    for name, part in parts
                ]
            )
        case "list", [(_, element)]:
            return ArrayType(_spark(element, name_of))
        case "map", [(_, key), (_, value)]:
            return MapType(_spark(key, name_of), _spark(value, name_of))
        case kind, _:
            return _find_type(kind, node.name if isinstance(node, Field) else "").spark


def _kind(node: Node) -> str:
    return node.type if isinstance(node, Field) else node.name


def _parts(node: Node) -> list[tuple[str, Node]]:
    if isinstance(node, Field):
        return [(part.name, part) for part in node.fields]
    return list(node.fields)


def _find_type(kind: str, path: str = "") -> Held:
    if kind.startswith("decimal"):
        precision, scale = decimal_digits(kind)
        return Held(DecimalType(precision, scale), pa.decimal128(precision, scale), "DECIMAL")
    if kind in TYPES:
        return TYPES[kind]
    column = f"The column {path!r} has" if path else "This is"
    raise Unsupported(
        f"{column} an unsupported type for data: {kind}.",
        remedy=NOT_HELD.get(kind, "Use one of: " + ", ".join(TYPES) + "."),
        type=kind,
    )


# From Spark to the lake


def column_specs(schema: StructType) -> list[ColumnSpec]:
    """Return the columns of a table that can store a DataFrame."""
    return [
        ColumnSpec(
            field.name,
            _column_type(field.dataType, field.name),
            nulls_allowed=field.nullable,
            comment=field.metadata.get("comment"),
        )
        for field in schema.fields
    ]


def _column_type(kind: DataType, path: str) -> ColumnType:
    match kind:
        case StructType():
            return struct_of(
                [
                    (field.name, _column_type(field.dataType, f"{path}.{field.name}"))
                    for field in kind.fields
                ]
            )
        case ArrayType():
            return list_of(_column_type(kind.elementType, f"{path}.element"))
        case MapType():
            return map_of(
                _column_type(kind.keyType, f"{path}.key"),
                _column_type(kind.valueType, f"{path}.value"),
            )
        case DecimalType():
            return ColumnType(f"decimal({kind.precision},{kind.scale})")
        case TimeType():
            return ColumnType("time")
        case CharType() | VarcharType():
            return ColumnType("varchar")
    for name, held in TYPES.items():
        if held.spark == kind:
            return ColumnType(name)
    raise Unsupported(
        f"The column {path!r} has an unsupported type: {kind.simpleString()}.",
        remedy="Cast it to a type that a table can store.",
        column=path,
        type=kind.simpleString(),
    )


# Literal defaults


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


def literal_column(text: str | None, field: Field) -> Column:
    """Return the value of a literal default as a Spark column, in the type of the field."""
    value = literal(text, field)
    if value is None or isinstance(value, bytes):
        return F.lit(value).cast(spark_type(field))
    # As text, because Spark interprets a datetime of Python in the time zone of this machine.
    shown = value.isoformat() if isinstance(value, datetime) else to_text(field.type, value)
    return F.lit(shown).cast(spark_type(field))
