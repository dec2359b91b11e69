"""Inlined rows as Arrow: leaf values are numbers, bytes or text that DuckDB casts.

Parameters of the Python client of DuckDB would lose NaN inside lists, and lists of maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from forklake.model.entities import InlinedRow
from forklake.model.fields import Field
from forklake.model.values import to_text

_HELD = {
    "boolean": pa.bool_(),
    "blob": pa.binary(),
    "float32": pa.float64(),
    "float64": pa.float64(),
}


def inlined_columns(fields: Sequence[Field], rows: Sequence[InlinedRow]) -> pa.Table:
    """Return rows that are kept in the metastore, under the names of the fields."""
    columns = [
        pa.array([_held(field, row.values[field.column_id]) for row in rows], _type(field))
        for field in fields
    ]
    return pa.table(columns, names=[field.name for field in fields])


def _type(field: Field) -> pa.DataType:
    match field.type, [_type(part) for part in field.fields]:
        case "struct", parts:
            return pa.struct(list(zip((one.name for one in field.fields), parts, strict=True)))
        case "list", [element]:
            return pa.list_(element)
        case "map", [key, value]:
            return pa.map_(key, value)
    return _HELD.get(field.type, pa.string())


def _held(field: Field, value: Any) -> Any:
    if value is None:
        return None
    match field.type:
        case "struct":
            return {one.name: _held(one, value.get(one.name)) for one in field.fields}
        case "list":
            return [_held(field.fields[0], one) for one in value]
        case "map":
            key, item = field.fields
            pairs = value.items() if isinstance(value, dict) else value
            return [(_held(key, one), _held(item, other)) for one, other in pairs]
    if field.type in _HELD or isinstance(value, str):
        return value
    return to_text(field.type, value)
