"""Schemas of Delta tables: the JSON text of the log, and the columns of the lake.

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

Types of the lake that Delta has not go out as what Spark holds them as: an unsigned number as a
wider one, a uuid as a string.
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
    """How columns are found in the files of a table: by their names, or by others for good."""

    NONE = "none"
    NAME = "name"
    ID = "id"

    @classmethod
    def of(cls, configuration: Mapping[str, str | None]) -> DeltaColumnMapping:
        """The mode that a table's configuration names."""
        mode = configuration.get("delta.columnMapping.mode") or "none"
        try:
            return cls(mode.lower())
        except ValueError:
            raise Unsupported(
                f"The Delta table has an unknown mode of column mapping: {mode!r}.",
                remedy="Use none, name or id.",
            ) from None


@dataclass(frozen=True, slots=True)
class DeltaField:
    """A column of a Delta table, or a part of one, with the type that the lake has for it.

    `metadata` is what the schema says of it beyond the rest, as it was.
    """

    name: str
    physical_name: str
    type: str
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[DeltaField, ...] = ()

    @property
    def field_id(self) -> int | None:
        """The number that files may have for the column."""
        found = self.metadata.get(_FIELD_ID)
        return found if isinstance(found, int) else None

    @property
    def comment(self) -> str | None:
        """What users say of the column."""
        return self._text("comment")

    @property
    def default(self) -> str | None:
        """The expression, in Spark SQL, that new rows get."""
        return self._text("CURRENT_DEFAULT")

    @property
    def generation_expression(self) -> str | None:
        """The expression, in Spark SQL, that every value equals."""
        return self._text("delta.generationExpression")

    @property
    def invariant(self) -> str | None:
        """The condition, in Spark SQL, that every value fulfils."""
        text = self._text("delta.invariants")
        try:
            return str(json.loads(text)["expression"]["expression"]) if text else None
        except (ValueError, LookupError, TypeError):
            return text

    def _text(self, key: str) -> str | None:
        found = self.metadata.get(key)
        return found if isinstance(found, str) else None


# A variant is in files as the group of two texts of bytes that encode it.
_VARIANT = tuple(DeltaField(name, name, "blob", nullable=False) for name in ("metadata", "value"))


# From the log


def parse_schema(
    schema_string: str, mapping: DeltaColumnMapping = DeltaColumnMapping.NONE
) -> tuple[DeltaField, ...]:
    """The columns of a schema; Unsupported names the column that the lake has no type for."""
    try:
        match json.loads(schema_string):
            case {"type": "struct", "fields": list() as fields}:
                return tuple(_field(one, "", mapping) for one in fields)
    except (ValueError, RecursionError) as reason:
        raise _damaged("is not JSON, or too deep") from reason
    raise _damaged("is no struct of fields")


def column_spec(one: DeltaField) -> ColumnSpec:
    """The column to create in the lake. Defaults are Spark's expressions and are left out."""
    return ColumnSpec(one.name, column_type(one), nulls_allowed=one.nullable, comment=one.comment)


def column_type(one: DeltaField) -> ColumnType:
    """The type of a column of the lake, with all that is inside it."""
    inside = [(part.name, column_type(part)) for part in one.fields]
    match one.type, inside:
        case "struct", _:
            return struct_of(list(inside))
        case "list", [(_, element)]:
            return list_of(element)
        case "map", [(_, key), (_, value)]:
            return map_of(key, value)
    return ColumnType(one.type)


def _field(body: Any, parent: str, mapping: DeltaColumnMapping) -> DeltaField:
    match body:
        case {"name": str() as name, "type": kind}:
            path = f"{parent}{name}"
            metadata = body.get("metadata") or {}
            if not isinstance(metadata, dict):
                raise _damaged(f"says of the column {path!r} what is no object")
            physical_name = _physical_name(path, name, metadata, mapping)
            stored, inside = _type(kind, path, mapping)
            nullable = body.get("nullable") is not False
            return DeltaField(name, physical_name, stored, nullable, metadata, inside)
    raise _damaged(f"has a field without a name or type in {parent or 'it'!r}")


def _physical_name(
    path: str, name: str, metadata: Mapping[str, Any], mapping: DeltaColumnMapping
) -> str:
    if mapping is DeltaColumnMapping.NONE:
        return name
    found = metadata.get(_PHYSICAL_NAME)
    if not isinstance(found, str) or not found:
        raise _damaged(f"has no physical name for the column {path!r}")
    return found


def _type(body: Any, path: str, mapping: DeltaColumnMapping) -> tuple[str, tuple[DeltaField, ...]]:
    """The type of the lake, and the parts of a nested one."""

    def part(name: str, kind: Any, nullable: Any) -> DeltaField:
        stored, inside = _type(kind, f"{path}.{name}", mapping)
        return DeltaField(name, name, stored, nullable is not False, {}, inside)

    match body:
        case "variant":
            return "struct", _VARIANT
        case str():
            return _scalar(body, path), ()
        case {"type": "struct", "fields": [_, *_] as fields}:
            return "struct", tuple(_field(one, f"{path}.", mapping) for one in fields)
        case {"type": "array", "elementType": kind}:
            return "list", (part("element", kind, body.get("containsNull")),)
        case {"type": "map", "keyType": key, "valueType": value}:
            key_part = part("key", key, False)
            return "map", (key_part, part("value", value, body.get("valueContainsNull")))
        case {"type": "struct", "fields": []}:
            raise _unsupported(path, "a struct without fields")
        case {"type": str() as name}:
            raise _unsupported(path, name)
    raise _damaged(f"has no type for the column {path!r}")


def _scalar(name: str, path: str) -> str:
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
    """The columns of a lake's table as a Delta table has them.

    Args:
        metadata: what the schema is to say of columns besides, such as comments.
    """
    return tuple(_published(one, one.name, mapping, metadata or {}) for one in fields)


def schema_string(fields: Sequence[DeltaField]) -> str:
    """The schema as the log has it."""
    return json.dumps(_struct_body(fields, ""), separators=(",", ":"), ensure_ascii=False)


def _published(
    one: Field,
    path: str,
    mapping: DeltaColumnMapping,
    metadata: Mapping[ColumnId, Mapping[str, Any]],
) -> DeltaField:
    said = dict(metadata.get(one.column_id, {}))
    if mapping is not DeltaColumnMapping.NONE:
        said |= {_FIELD_ID: int(one.column_id), _PHYSICAL_NAME: one.physical_name}
    elif one.physical_name != one.name:
        raise InvalidInput(
            f"The column {path!r} is called {one.physical_name!r} in its files.",
            remedy="Publish the table with column mapping.",
        )
    parts = [_published(part, f"{path}.{part.name}", mapping, metadata) for part in one.fields]
    if one.type != "struct":  # of elements, keys and values nothing is said
        parts = [replace(part, metadata={}) for part in parts]
    if one.type == "map":
        parts[0] = replace(parts[0], nullable=False)
    return DeltaField(one.name, one.physical_name, one.type, one.nulls_allowed, said, tuple(parts))


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
            f"The column {path!r} has a type that Delta tables have not: {one.type}.",
            remedy="Give it another type, or leave it out of the Delta table.",
            column=path,
            type=one.type,
        )
    return _TO_DELTA[one.type]


# Errors


def _unsupported(path: str, kind: str) -> Unsupported:
    return Unsupported(
        f"The column {path!r} of the Delta table has an unsupported type: {kind}.",
        remedy="Drop the column, or write it with a type that a table can hold.",
        column=path,
        type=kind,
    )


def _damaged(fault: str) -> Corruption:
    return Corruption(
        f"The schema of the Delta table {fault}.", remedy="Restore the log from a backup."
    )
