"""Conversion between Delta schemas, which are JSON text in the log, and columns of the lake.

| Delta                            | the lake          |
|----------------------------------|-------------------|
| byte, short, integer, long       | int8 … int64      |
| float, double                    | float32, float64  |
| decimal(p,s)                     | decimal(p,s)      |
| string, varchar(n), char(n)      | varchar           |
| binary, boolean, date            | blob, boolean, date |
| timestamp, timestamp_ntz         | timestamptz, timestamp |
| struct, array, map               | struct, list, map |
| variant                          | struct of its two encoded parts |

Lake types that Delta does not have are published as the type that Spark stores them as: an unsigned
integer as a wider one, a uuid as a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from forklake.errors import Corruption, InvalidInput, Unsupported
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from forklake.model.types import ColumnSpec, ColumnType, list_of, map_of, scalar, struct_of

_FIELD_ID, _PHYSICAL_NAME = "delta.columnMapping.id", "delta.columnMapping.physicalName"
_DECIMAL = re.compile(r"decimal\(\s*\d+\s*,\s*\d+\s*\)")
_SHORT_STRING = re.compile(r"(?:var)?char\(\d+\)")
_TO_LAKE = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "decimal": "decimal(10,0)",
    "string": "varchar",
    "binary": "blob",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}
_TO_DELTA = {lake: delta for delta, lake in _TO_LAKE.items() if delta != "decimal"} | {
    "uint8": "short",
    "uint16": "integer",
    "uint32": "long",
    "uint64": "decimal(20,0)",
    "int128": "decimal(38,0)",
    "uint128": "decimal(38,0)",
    "uuid": "string",
    "json": "string",
    "timestamp_s": "timestamp_ntz",
    "timestamp_ms": "timestamp_ntz",
}


class DeltaColumnMapping(Enum):
    """How columns are found in files: by name, or by a physical name or id that never changes."""

    NONE = "none"
    NAME = "name"
    ID = "id"

    @classmethod
    def of(cls, configuration: Mapping[str, str | None]) -> DeltaColumnMapping:
        """Return the mode in the configuration of a table."""
        mode = configuration.get("delta.columnMapping.mode") or "none"
        try:
            return cls(mode.lower())
        except ValueError:
            raise Unsupported(
                f"The Delta table has an unknown column mapping mode: {mode!r}.",
                remedy="Set delta.columnMapping.mode to none, name or id.",
            ) from None


@dataclass(frozen=True, slots=True)
class DeltaField:
    """A column of a Delta table, or a nested field, with its lake type.

    `metadata` is its metadata in the schema, unchanged.
    """

    name: str
    physical_name: str
    type: str
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[DeltaField, ...] = ()

    @property
    def field_id(self) -> int | None:
        """The field id of the column in files, or None."""
        found = self.metadata.get(_FIELD_ID)
        return found if isinstance(found, int) else None

    @property
    def comment(self) -> str | None:
        """The comment of the column."""
        return self._text("comment")

    @property
    def default(self) -> str | None:
        """The default of new rows, as a Spark SQL expression."""
        return self._text("CURRENT_DEFAULT")

    @property
    def generation_expression(self) -> str | None:
        """The Spark SQL expression that computes the column."""
        return self._text("delta.generationExpression")

    @property
    def invariant(self) -> str | None:
        """The Spark SQL condition that every value must satisfy."""
        text = self._text("delta.invariants")
        try:
            return str(json.loads(text)["expression"]["expression"]) if text else None
        except (ValueError, LookupError, TypeError):
            return text

    def _text(self, key: str) -> str | None:
        found = self.metadata.get(key)
        return found if isinstance(found, str) else None


# Files store a variant as a group of two binary columns that encode it.
_VARIANT = tuple(DeltaField(name, name, "blob", nullable=False) for name in ("metadata", "value"))


# From the log


def parse_schema(
    schema_string: str, mapping: DeltaColumnMapping = DeltaColumnMapping.NONE
) -> tuple[DeltaField, ...]:
    """Parse the columns of a schema. Raise Unsupported if the lake lacks the type of a column."""
    try:
        match json.loads(schema_string):
            case {"type": "struct", "fields": list() as fields}:
                return tuple(_parse_field(one, "", mapping) for one in fields)
    except (ValueError, RecursionError) as reason:
        raise _damaged("is not JSON, or is nested too deeply") from reason
    raise _damaged("is not a struct of fields")


def column_spec(one: DeltaField) -> ColumnSpec:
    """Return the column to create in the lake. Defaults are left out: they are in Spark SQL."""
    return ColumnSpec(one.name, column_type(one), nulls_allowed=one.nullable, comment=one.comment)


def column_type(one: DeltaField) -> ColumnType:
    """Return the lake type of a column with all nested fields."""
    inside = [(part.name, column_type(part)) for part in one.fields]
    match one.type, inside:
        case "struct", _:
            return struct_of(list(inside))
        case "list", [(_, element)]:
            return list_of(element)
        case "map", [(_, key), (_, value)]:
            return map_of(key, value)
    return ColumnType(one.type)


def _parse_field(body: Any, parent: str, mapping: DeltaColumnMapping) -> DeltaField:
    match body:
        case {"name": str() as name, "type": kind}:
            path = f"{parent}{name}"
            metadata = body.get("metadata") or {}
            if not isinstance(metadata, dict):
                raise _damaged(f"has metadata of the column {path!r} that is not an object")
            physical_name = _parse_physical_name(path, name, metadata, mapping)
            stored, inside = _parse_type(kind, path, mapping)
            nullable = body.get("nullable") is not False
            return DeltaField(name, physical_name, stored, nullable, metadata, inside)
    raise _damaged(f"has a field without a name or type in {parent or 'the table'!r}")


def _parse_physical_name(
    path: str, name: str, metadata: Mapping[str, Any], mapping: DeltaColumnMapping
) -> str:
    if mapping is DeltaColumnMapping.NONE:
        return name
    found = metadata.get(_PHYSICAL_NAME)
    if not isinstance(found, str) or not found:
        raise _damaged(f"has no physical name for the column {path!r}")
    return found


def _parse_type(
    body: Any, path: str, mapping: DeltaColumnMapping
) -> tuple[str, tuple[DeltaField, ...]]:
    """Return the lake type, and the nested fields."""

    def nested_field(name: str, kind: Any, nullable: Any) -> DeltaField:
        stored, inside = _parse_type(kind, f"{path}.{name}", mapping)
        return DeltaField(name, name, stored, nullable is not False, {}, inside)

    match body:
        case "variant":
            return "struct", _VARIANT
        case str():
            return _parse_scalar(body, path), ()
        case {"type": "struct", "fields": [_, *_] as fields}:
            return "struct", tuple(_parse_field(one, f"{path}.", mapping) for one in fields)
        case {"type": "array", "elementType": kind}:
            return "list", (nested_field("element", kind, body.get("containsNull")),)
        case {"type": "map", "keyType": key, "valueType": value}:
            key_part = nested_field("key", key, False)
            return "map", (key_part, nested_field("value", value, body.get("valueContainsNull")))
        case {"type": "struct", "fields": []}:
            raise _unsupported(path, "a struct without fields")
        case {"type": str() as name}:
            raise _unsupported(path, name)
    raise _damaged(f"has no type for the column {path!r}")


def _parse_scalar(name: str, path: str) -> str:
    if _DECIMAL.fullmatch(name):
        return scalar(name).name
    if _SHORT_STRING.fullmatch(name):
        return "varchar"
    if name not in _TO_LAKE:
        raise _unsupported(path, name)
    return _TO_LAKE[name]


# To the log


def delta_fields(
    fields: Sequence[Field],
    mapping: DeltaColumnMapping = DeltaColumnMapping.NONE,
    metadata: Mapping[ColumnId, Mapping[str, Any]] | None = None,
) -> tuple[DeltaField, ...]:
    """Return the columns of a lake table as columns of a Delta table.

    Args:
        metadata: additional metadata of columns in the schema, such as comments.
    """
    return tuple(_to_delta_field(one, one.name, mapping, metadata or {}) for one in fields)


def schema_string(fields: Sequence[DeltaField]) -> str:
    """Return the schema as JSON text."""
    return json.dumps(_struct_body(fields, ""), separators=(",", ":"), ensure_ascii=False)


def _to_delta_field(
    one: Field,
    path: str,
    mapping: DeltaColumnMapping,
    metadata: Mapping[ColumnId, Mapping[str, Any]],
) -> DeltaField:
    field_metadata = dict(metadata.get(one.column_id, {}))
    if mapping is not DeltaColumnMapping.NONE:
        field_metadata |= {_FIELD_ID: int(one.column_id), _PHYSICAL_NAME: one.physical_name}
    elif one.physical_name != one.name:
        raise InvalidInput(
            f"The column {path!r} has another name in its files: {one.physical_name!r}.",
            remedy="Publish the table with column mapping.",
        )
    parts = [_to_delta_field(part, f"{path}.{part.name}", mapping, metadata) for part in one.fields]
    if one.type != "struct":  # elements, keys and values have no metadata
        parts = [replace(part, metadata={}) for part in parts]
    if one.type == "map":
        parts[0] = replace(parts[0], nullable=False)
    return DeltaField(
        one.name, one.physical_name, one.type, one.nulls_allowed, field_metadata, tuple(parts)
    )


def _struct_body(fields: Sequence[DeltaField], parent: str) -> dict[str, Any]:
    bodies = [
        {
            "name": one.name,
            "type": _type_body(one, f"{parent}{one.name}"),
            "nullable": one.nullable,
            "metadata": dict(one.metadata),
        }
        for one in fields
    ]
    return {"type": "struct", "fields": bodies}


def _type_body(one: DeltaField, path: str) -> Any:
    match one.type, one.fields:
        case "struct", fields:
            return _struct_body(fields, f"{path}.")
        case "list", (element,):
            kind = _type_body(element, f"{path}.element")
            return {"type": "array", "elementType": kind, "containsNull": element.nullable}
        case "map", (key, value):
            return {
                "type": "map",
                "keyType": _type_body(key, f"{path}.key"),
                "valueType": _type_body(value, f"{path}.value"),
                "valueContainsNull": value.nullable,
            }
    if one.type.startswith("decimal"):
        return one.type
    if one.type not in _TO_DELTA:
        raise Unsupported(
            f"The column {path!r} has a type that Delta does not have: {one.type}.",
            remedy="Change the type of the column, or drop the column before publishing.",
            column=path,
            type=one.type,
        )
    return _TO_DELTA[one.type]


# Errors


def _unsupported(path: str, kind: str) -> Unsupported:
    return Unsupported(
        f"The column {path!r} of the Delta table has an unsupported type: {kind}.",
        remedy="Drop the column from the Delta table, or change its type to a supported one.",
        column=path,
        type=kind,
    )


def _damaged(fault: str) -> Corruption:
    return Corruption(
        f"The schema of the Delta table {fault}.", remedy="Restore the log from a backup."
    )
