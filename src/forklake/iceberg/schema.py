"""Iceberg schemas of tables; column ids are the field ids."""

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
from forklake.model.inlined_values import initial_value
from forklake.model.values import decimal_digits

# The Iceberg types of the values that files hold, by column type.
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
    """Return the Iceberg schema of columns. Raise Unsupported if Iceberg lacks a type."""
    return Schema(*(_nested_field(one) for one in fields), schema_id=schema_id)


def primitive_type(field: Field) -> PrimitiveType:
    """Return the Iceberg type of a leaf column."""
    if field.type.startswith("decimal"):
        return DecimalType(*decimal_digits(field.type))
    if field.type not in TYPES:
        raise Unsupported(
            f"Column '{field.name}' is of type {field.type}, which Iceberg does not have.",
            remedy="Change the type of the column, or do not publish the table to Iceberg.",
        )
    return TYPES[field.type]


def to_iceberg_value(field: Field, value: Any) -> Any:
    """Return a value of a leaf column as the Python type that pyiceberg uses."""
    kind = primitive_type(field)
    if isinstance(kind, DecimalType):
        return _to_decimal(kind, value)
    return str(value) if isinstance(kind, StringType) else value


def has_initial_defaults(fields: Iterable[Field]) -> bool:
    """Return whether a column has a default for rows of files that lack it."""
    return any(
        one.initial_default is not None or has_initial_defaults(one.fields) for one in fields
    )


def plain_leaves(fields: Iterable[Field]) -> Iterator[Field]:
    """Yield the leaf columns that have exactly one value in each row."""
    for one in fields:
        if one.type == "struct":
            yield from plain_leaves(one.fields)
        elif not one.fields:
            yield one


def can_be_read_as(before: str, field: Field) -> bool:
    """Return whether Iceberg readers promote values of type `before` to the type of a column."""
    match primitive_type(replace(field, type=before)), primitive_type(field):
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
        case DecimalType() as was, DecimalType() as now:
            return was.scale == now.scale
        case was, now:
            return was == now


def _nested_field(field: Field) -> NestedField:
    default = initial_value(field)
    if isinstance(default, float) and not math.isfinite(default):
        raise Unsupported(
            f"Column '{field.name}' has the initial default {default}, which Iceberg cannot"
            " represent.",
            remedy="Add a column without a default, copy the values with UPDATE, and drop the old"
            " column.",
        )
    return NestedField(
        field_id=int(field.column_id),
        name=field.name,
        field_type=_iceberg_type(field),
        required=not field.nulls_allowed,
        initial_default=None if default is None else to_iceberg_value(field, default),
    )


def _iceberg_type(field: Field) -> IcebergType:
    match field.type:
        case "struct":
            return StructType(*(_nested_field(one) for one in field.fields))
        case "list":
            (element,) = field.fields
            return ListType(
                element_id=int(element.column_id),
                element_type=_iceberg_type(element),
                element_required=not element.nulls_allowed,
            )
        case "map":
            key, value = field.fields
            return MapType(
                key_id=int(key.column_id),
                key_type=_iceberg_type(key),
                value_id=int(value.column_id),
                value_type=_iceberg_type(value),
                value_required=not value.nulls_allowed,
            )
    return primitive_type(field)


def _to_decimal(kind: DecimalType, value: Any) -> Decimal:
    # The default decimal context has fewer digits than the type.
    return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=Context(kind.precision))
