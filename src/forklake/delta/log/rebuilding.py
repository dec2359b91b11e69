"""Texts that a checkpoint may keep as columns instead: statistics and partition values.

A checkpoint can hold them in the types of the table's columns alone (`stats_parsed`,
`partitionValues_parsed`); here they become the texts that the log would hold.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Moments of the old kind (INT96) are read in this unit, which nobody uses for timestamps without
# a zone: so one is told from the other. Statistics know no finer one.
INT96_UNIT = "ms"


def statistics_texts(parsed: pa.StructArray) -> list[str | None]:
    """The statistics of each file as JSON."""
    rows = _told(parsed).to_pylist(maps_as_pydicts="strict")
    return [None if row is None else _json(_without_nulls(row)) for row in rows]


def partition_texts(parsed: pa.StructArray) -> list[dict[str, str | None] | None]:
    """The partition values of each file as texts."""
    columns = [_value_texts(column) for column in parsed.flatten()]
    names = [field.name for field in parsed.type]
    rows = zip(*columns, strict=True) if columns else ((),) * len(parsed)
    return [
        dict(zip(names, row, strict=True)) if valid else None
        for row, valid in zip(rows, parsed.is_valid().to_pylist(), strict=True)
    ]


def _told(array: pa.Array) -> pa.Array:
    """The same values, with moments as texts: Python's own have not all years."""
    if pa.types.is_struct(array.type):
        names = [field.name for field in array.type]
        children = [_told(child) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, names, mask=array.is_null())
    if pa.types.is_timestamp(array.type):
        return _moments(array)
    return array.cast(pa.string()) if pa.types.is_date(array.type) else array


def _moments(array: pa.Array) -> pa.Array:
    """Timestamps as `2024-01-31T10:00:00.000001`, with a `Z` where they are moments of UTC."""
    is_utc = array.type.tz is not None or array.type.unit == INT96_UNIT
    fine = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.timestamp("us")).cast(pa.string())
    text = pc.replace_substring(fine, " ", "T", max_replacements=1)
    return pc.binary_join_element_wise(text, "Z", "") if is_utc else text


def _value_texts(array: pa.Array) -> list[str | None]:
    told = _moments(array) if pa.types.is_timestamp(array.type) else array.cast(pa.string())
    texts: list[str | None] = told.to_pylist()
    return texts


def _without_nulls(value: Any) -> Any:
    """Without the values that are not there, and those that statistics do not hold."""
    if not isinstance(value, dict):
        return value
    inner = {name: _without_nulls(one) for name, one in value.items()}
    return {name: one for name, one in inner.items() if not _is_left_out(one)}


def _is_left_out(value: Any) -> bool:
    return value is None or value == {} or isinstance(value, bytes | list)


def _json(value: Any) -> str:
    """JSON with decimals digit by digit, and numbers that JSON does not have as texts."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not isfinite(value):
        return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
    return json.dumps(value, ensure_ascii=False)
