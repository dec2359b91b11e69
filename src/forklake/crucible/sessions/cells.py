"""Conversion of Arrow values to JSON.

JSON has fewer types than SQL. Decimals, times and dates become strings; bytes become base64
strings; non-finite numbers become the strings NaN, Infinity or -Infinity; a map becomes a list of
pairs. Responses also list the type of each column.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def to_json_rows(table: pa.Table) -> list[list[Any]]:
    """Return the rows of a table, each a list of values in column order."""
    columns = [
        _convert_array(pa.concat_arrays(one.chunks or [one.combine_chunks()])) for one in table
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _convert_array(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_floating(kind):
        return [_convert_number(value) for value in array.to_pylist()]
    if pa.types.is_decimal(kind) or pa.types.is_temporal(kind):
        return _convert_to_text(array)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        found = array.to_pylist()
        return [None if one is None else base64.b64encode(one).decode() for one in found]
    if pa.types.is_map(kind):
        return _convert_maps(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _convert_lists(array, iter(_convert_array(array.flatten())))
    if pa.types.is_struct(kind):
        return _convert_structs(array)
    return list(array.to_pylist())


def _convert_number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _convert_to_text(array: pa.Array) -> list[str | None]:
    """Return values as text from Arrow: Python dates do not cover the range of Arrow timestamps."""
    kind = array.type
    if pa.types.is_duration(kind) or pa.types.is_interval(kind):
        return [None if one is None else str(one) for one in array.to_pylist()]
    return list(array.cast(pa.string()).to_pylist())


def _convert_lists(array: pa.Array, values: Iterator[Any]) -> list[Any]:
    lengths = pc.list_value_length(array).to_pylist()
    return [None if length is None else list(islice(values, length)) for length in lengths]


def _convert_maps(array: pa.Array) -> list[Any]:
    pair = pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])
    found = _convert_array(array.cast(pa.list_(pair)))
    return [None if one is None else [[*pair.values()] for pair in one] for one in found]


def _convert_structs(array: pa.Array) -> list[Any]:
    names = [one.name for one in array.type]
    columns = [_convert_array(one) for one in array.flatten()]
    found = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    found = found or [{}] * len(array)
    return [one if valid else None for one, valid in zip(found, array.is_valid(), strict=True)]
