"""Conversion of typed checkpoint columns to the texts of the log: statistics, partition values.

A checkpoint may hold these only in the types of the table columns (`stats_parsed`,
`partitionValues_parsed`).
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# INT96 timestamps are read in this unit. No writer uses it for timestamps without a zone, so it
# marks INT96 columns. Statistics have no finer unit.
INT96_UNIT = "ms"


def statistics_texts(parsed: pa.StructArray) -> list[str | None]:
    """Return the statistics of each file as JSON."""
    rows = _format_times(parsed).to_pylist(maps_as_pydicts="strict")
    return [None if row is None else _serialize(_drop_nulls(row)) for row in rows]


def partition_texts(parsed: pa.StructArray) -> list[dict[str, str | None] | None]:
    """Return the partition values of each file as texts."""
    columns = [_format_values(column) for column in parsed.flatten()]
    names = [field.name for field in parsed.type]
    rows = zip(*columns, strict=True) if columns else ((),) * len(parsed)
    return [
        dict(zip(names, row, strict=True)) if valid else None
        for row, valid in zip(rows, parsed.is_valid().to_pylist(), strict=True)
    ]


def _format_times(array: pa.Array) -> pa.Array:
    """Convert dates and timestamps to texts: Python does not support all years."""
    if pa.types.is_struct(array.type):
        names = [field.name for field in array.type]
        children = [_format_times(child) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, names, mask=array.is_null())
    if pa.types.is_timestamp(array.type):
        return _format_timestamps(array)
    return array.cast(pa.string()) if pa.types.is_date(array.type) else array


def _format_timestamps(array: pa.Array) -> pa.Array:
    """Format timestamps as `2024-01-31T10:00:00.000001`, with a `Z` if they are in UTC."""
    is_utc = array.type.tz is not None or array.type.unit == INT96_UNIT
    fine = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.timestamp("us")).cast(pa.string())
    text = pc.replace_substring(fine, " ", "T", max_replacements=1)
    return pc.binary_join_element_wise(text, "Z", "") if is_utc else text


def _format_values(array: pa.Array) -> list[str | None]:
    formatted = (
        _format_timestamps(array) if pa.types.is_timestamp(array.type) else array.cast(pa.string())
    )
    texts: list[str | None] = formatted.to_pylist()
    return texts


def _drop_nulls(value: Any) -> Any:
    """Return the value without nulls, and without types that statistics do not have."""
    if not isinstance(value, dict):
        return value
    inner = {name: _drop_nulls(one) for name, one in value.items()}
    return {name: one for name, one in inner.items() if not _is_left_out(one)}


def _is_left_out(value: Any) -> bool:
    return value is None or value == {} or isinstance(value, bytes | list)


def _serialize(value: Any) -> str:
    """Serialize to JSON with exact decimals, and with NaN and infinities as texts."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{_serialize(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not isfinite(value):
        return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
    return json.dumps(value, ensure_ascii=False)
