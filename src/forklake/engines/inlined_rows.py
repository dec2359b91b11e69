"""Inlined rows, which are stored in the metastore, as Arrow arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from forklake.engines.arrow_types import arrow_type
from forklake.model.entities import InlinedRow
from forklake.model.fields import Field


def inlined_columns(fields: Sequence[Field], rows: Sequence[InlinedRow]) -> list[pa.Array]:
    """Return the columns of a table as Arrow arrays, filled from inlined rows."""
    return [
        pa.array([_value(field, row.values[field.column_id]) for row in rows], arrow_type(field))
        for field in fields
    ]


def _value(field: Field, value: Any) -> Any:
    """Return a value in the form that Arrow takes: maps as lists of pairs."""
    match field.type, value:
        case _, None:
            return None
        case "struct", dict():
            return {part.name: _value(part, value.get(part.name)) for part in field.fields}
        case "list", _:
            return [_value(field.fields[0], item) for item in value]
        case "map", _:
            key, part = field.fields
            pairs = value.items() if isinstance(value, dict) else value
            return [(_value(key, name), _value(part, item)) for name, item in pairs]
    return value
