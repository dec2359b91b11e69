"""Types: how Spark represents each type of the lake, and the way back.

The Spark session runs in UTC. A Spark type maps back to the first lake type with that
representation: an `int16` written by Spark never becomes a `uint8`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

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

from forklake.engines.arrow_types import Node, find_type, kind_of, literal, parts_of
from forklake.errors import Unsupported
from forklake.model.fields import Field
from forklake.model.types import ColumnSpec, ColumnType, list_of, map_of, struct_of
from forklake.model.values import decimal_digits, to_text

# Spark types, as the table `arrow_types.TYPES` has those of Arrow and Parquet.
SPARK_TYPES: dict[str, DataType] = {
    "boolean": BooleanType(),
    "int8": ByteType(),
    "int16": ShortType(),
    "int32": IntegerType(),
    "int64": LongType(),
    "uint8": ShortType(),
    "uint16": IntegerType(),
    "uint32": LongType(),
    "uint64": DecimalType(20, 0),
    "int128": DecimalType(38, 0),
    "uint128": DecimalType(38, 0),
    "float32": FloatType(),
    "float64": DoubleType(),
    "varchar": StringType(),
    "json": StringType(),
    "uuid": StringType(),
    "blob": BinaryType(),
    "date": DateType(),
    "timestamp": TimestampNTZType(),
    "timestamp_s": TimestampNTZType(),
    "timestamp_ms": TimestampNTZType(),
    "timestamptz": TimestampType(),
    "time": TimeType(6),
}


# From the lake to Spark

STORED = "forklake.type"  # key in the metadata of a column whose Spark type does not identify it


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


def _spark(node: Node, name_of: Callable[[Field], str]) -> DataType:
    match kind_of(node), parts_of(node):
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
            find_type(kind, node.name if isinstance(node, Field) else "")  # refuses other types
            if kind.startswith("decimal"):
                return DecimalType(*decimal_digits(kind))
            return SPARK_TYPES[kind]


# From Spark to the lake


def column_type(kind: DataType) -> ColumnType:
    """Return the type of a column that can store values of a Spark type."""
    return _column_type(kind, "column")


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
    for name, held in SPARK_TYPES.items():
        if held == kind:
            return ColumnType(name)
    raise Unsupported(
        f"The column {path!r} has an unsupported type: {kind.simpleString()}.",
        remedy="Cast it to a type that a table can store.",
        column=path,
        type=kind.simpleString(),
    )


# Literal defaults


def literal_column(text: str | None, field: Field) -> Column:
    """Return the value of a literal default as a Spark column, in the type of the field."""
    value = literal(text, field)
    if value is None or isinstance(value, bytes):
        return F.lit(value).cast(spark_type(field))
    # As text, because Spark interprets a datetime of Python in the time zone of this machine.
    shown = value.isoformat() if isinstance(value, datetime) else to_text(field.type, value)
    return F.lit(shown).cast(spark_type(field))
