"""The columns of a table as an Iceberg schema; ids of columns are ids of fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
)

from forklake.errors import Unsupported
from forklake.model.fields import Field
from forklake.model.inlining import initial_value
from forklake.model.values import decimal_digits

# What files hold for each type, in Iceberg's words.
TYPES: dict[str, PrimitiveType] = {
    "boolean": BooleanType(),
    "int8": IntegerType(),
    "int16": IntegerType(),
    "int32": IntegerType(),
    "int64": LongType(),
    "uint8": IntegerType(),
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
    "time": TimeType(),
    "timestamp": TimestampType(),
    "timestamp_s": TimestampType(),
    "timestamp_ms": TimestampType(),
    "timestamptz": TimestamptzType(),
}


def iceberg_schema(fields: Iterable[Field], schema_id: int) -> Schema:
    """The schema of a table's columns; Unsupported if Iceberg lacks a type."""
    return Schema(*(_nested(one) for one in fields), schema_id=schema_id)


def primitive(field: Field) -> PrimitiveType:
    """The type of a leaf."""
    if field.type.startswith("decimal"):
        return DecimalType(*decimal_digits(field.type))
    if field.type not in TYPES:
        raise Unsupported(
            f"Column '{field.name}' is of type {field.type}, which Iceberg does not have.",
            remedy="Change the column, or read the table in another way.",
        )
    return TYPES[field.type]


def value_of(field: Field, value: Any) -> Any:
    """A value of a leaf as Iceberg has it."""
    kind = primitive(field)
    if isinstance(kind, DecimalType):
        return _decimal(kind, value)
    return str(value) if isinstance(kind, StringType) else value


def has_initial_defaults(fields: Iterable[Field]) -> bool:
    """Whether rows show a value for a column that their files lack."""
    return any(
        one.initial_default is not None or has_initial_defaults(one.fields) for one in fields
    )


def plain_leaves(fields: Iterable[Field]) -> Iterator[Field]:
    """The leaves that have one value in each row."""
    for one in fields:
        if one.type == "struct":
            yield from plain_leaves(one.fields)
        elif not one.fields:
            yield one


def can_be_read_as(before: str, field: Field) -> bool:
    """Whether readers take a leaf that files hold as another type, from before it was widened."""
    match primitive(replace(field, type=before)), primitive(field):
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
        case DecimalType() as was, DecimalType() as now:
            return was.scale == now.scale
        case was, now:
            return was == now


def _nested(field: Field) -> NestedField:
    default = initial_value(field)
    if isinstance(default, float) and not math.isfinite(default):
        raise Unsupported(
            f"Old rows show {default} for the column '{field.name}', which Iceberg cannot say.",
            remedy="UPDATE the column to itself, drop it and add it without a default.",
        )
    return NestedField(
        field_id=int(field.column_id),
        name=field.name,
        field_type=_type(field),
        required=not field.nulls_allowed,
        initial_default=None if default is None else value_of(field, default),
    )


def _type(field: Field) -> IcebergType:
    match field.type:
        case "struct":
            return StructType(*(_nested(one) for one in field.fields))
        case "list":
            (element,) = field.fields
            return ListType(
                element_id=int(element.column_id),
                element_type=_type(element),
                element_required=not element.nulls_allowed,
            )
        case "map":
            key, value = field.fields
            return MapType(
                key_id=int(key.column_id),
                key_type=_type(key),
                value_id=int(value.column_id),
                value_type=_type(value),
                value_required=not value.nulls_allowed,
            )
    return primitive(field)


def _decimal(kind: DecimalType, value: Any) -> Decimal:
    # The context that is there by itself has fewer digits than the type.
    return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=Context(kind.precision))
