"""Models of column types: a name such as `int64` or `decimal(18,3)`, or an object if nested."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from forklake.crucible.shapes.base import RequestBody
from forklake.model.entities import Table
from forklake.model.fields import Field as TableField
from forklake.model.state import CatalogState
from forklake.model.types import ColumnType, list_of, map_of, scalar, struct_of


class StructField(RequestBody):
    """Field of a struct type."""

    name: str
    type: Type


class StructType(RequestBody):
    """Struct type."""

    struct: Annotated[list[StructField], Field(min_length=1, max_length=10_000)]


class ListType(RequestBody):
    """List type."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    list: Type


class KeyAndValue(RequestBody):
    """Key and value types of a map."""

    key: Type
    value: Type


class MapType(RequestBody):
    """Map type."""

    map: KeyAndValue


Type = str | StructType | ListType | MapType
for _shape in (StructField, StructType, ListType, KeyAndValue, MapType):
    _shape.model_rebuild()


def to_column_type(shape: Type) -> ColumnType:
    """Return the column type for a type of a request."""
    match shape:
        case StructType():
            return struct_of([(one.name, to_column_type(one.type)) for one in shape.struct])
        case ListType():
            return list_of(to_column_type(shape.list))
        case MapType():
            return map_of(to_column_type(shape.map.key), to_column_type(shape.map.value))
    return scalar(shape)


def describe_type(field: TableField) -> Type:
    """Return the type of a field for a response."""
    inside = {one.name: describe_type(one) for one in field.fields}
    match field.type:
        case "struct":
            parts = [StructField(name=name, type=type_) for name, type_ in inside.items()]
            return StructType(struct=parts)
        case "list":
            return ListType(list=inside["element"])
        case "map":
            return MapType(map=KeyAndValue(**inside))
    return field.type


def describe_column_types(state: CatalogState, table: Table) -> dict[int, Type]:
    """Return the types of a table's columns by column id."""
    return {field.column_id: describe_type(field) for field in state.fields(table)}
