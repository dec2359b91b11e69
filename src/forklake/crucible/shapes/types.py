"""Models of column types: a name such as `int64` or `decimal(18,3)`, or an object if nested."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from forklake.crucible.shapes.base import Body
from forklake.model.entities import Table
from forklake.model.fields import Field as TableField
from forklake.model.state import CatalogState
from forklake.model.types import ColumnType, list_of, map_of, scalar, struct_of


class StructField(Body):
    """Field of a struct type."""

    name: str
    type: Type


class StructType(Body):
    """Struct type."""

    struct: Annotated[list[StructField], Field(min_length=1, max_length=10_000)]


class ListType(Body):
    """List type."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    list: Type


class KeyAndValue(Body):
    """Key and value types of a map."""

    key: Type
    value: Type


class MapType(Body):
    """Map type."""

    map: KeyAndValue


Type = str | StructType | ListType | MapType
for _shape in (StructField, StructType, ListType, KeyAndValue, MapType):
    _shape.model_rebuild()


def as_model(shape: Type) -> ColumnType:
    """Return the column type for a type of a request."""
    match shape:
        case StructType():
            return struct_of([(one.name, as_model(one.type)) for one in shape.struct])
        case ListType():
            return list_of(as_model(shape.list))
        case MapType():
            return map_of(as_model(shape.map.key), as_model(shape.map.value))
    return scalar(shape)


def as_shape(field: TableField) -> Type:
    """Return the type of a field for a response."""
    inside = {one.name: as_shape(one) for one in field.fields}
    match field.type:
        case "struct":
            parts = [StructField(name=name, type=type_) for name, type_ in inside.items()]
            return StructType(struct=parts)
        case "list":
            return ListType(list=inside["element"])
        case "map":
            return MapType(map=KeyAndValue(**inside))
    return field.type


def shapes_of(state: CatalogState, table: Table) -> dict[int, Type]:
    """Return the types of a table's columns by column id."""
    return {field.column_id: as_shape(field) for field in state.fields(table)}
