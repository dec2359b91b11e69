"""Statistics of many files at once, built column by column with Arrow.

The JSON texts are identical to those of `statistics.format_statistics` for each file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forklake.delta.statistics import Leaves, format_bound, quote_name
from forklake.model.ids import ColumnId
from forklake.model.orders import order_of

_WHOLE_NUMBERS = "^(0|-?[1-9][0-9]{0,17})$"  # valid JSON numbers that fit every integer type


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """The statistics of one column in each file, as texts of the lake; null if missing."""

    low: pa.Array
    high: pa.Array
    nulls: pa.Array
    contains_nan: pa.Array


def format_statistics_column(
    counts: pa.Array, statistics: Mapping[ColumnId, FileStatistics], leaves: Leaves
) -> pa.Array:
    """Return the statistics of files without deleted rows as JSON texts."""
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for path, leaf in leaves.items():
        column = statistics.get(leaf.column_id)
        if column is not None:
            _put(lows, path, _format_bounds(leaf.type, column.low, is_upper=False))
            _put(
                highs,
                path,
                _format_bounds(leaf.type, _certain_maxima(leaf.type, column), is_upper=True),
            )
            _put(nulls, path, column.nulls.cast(pa.string()))
    return _join(
        [
            '{"numRecords":',
            counts.cast(pa.string()),
            *(',"minValues":{', _join_members(lows)),
            *('},"maxValues":{', _join_members(highs)),
            *('},"nullCount":{', _join_members(nulls)),
            '},"tightBounds":true}',
        ],
        len(counts),
    )


def _certain_maxima(column_type: str, column: FileStatistics) -> pa.Array:
    """Return the upper bounds that are certain: NaN is greater than every number."""
    if not column_type.startswith("float"):
        return column.high
    has_no_nan = pc.fill_null(pc.equal(column.contains_nan, False), False)
    return pc.if_else(has_no_nan, column.high, None)


def _format_bounds(column_type: str, texts: pa.Array, *, is_upper: bool) -> pa.Array:
    """Return bounds as JSON. Integers are valid JSON; other types convert each distinct value."""
    order = order_of(column_type)
    if order is not None and order.is_integer:
        is_json = pc.match_substring_regex(texts, _WHOLE_NUMBERS)
        if pc.all(pc.fill_null(is_json, True)).as_py():
            return texts
    encoded = texts.dictionary_encode()
    formatted = [
        format_bound(column_type, text, is_upper=is_upper)
        for text in encoded.dictionary.to_pylist()
    ]
    return pa.array(formatted, pa.string()).take(encoded.indices)


def _put(tree: dict[str, Any], path: tuple[str, ...], texts: pa.Array) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = texts


def _join_members(tree: dict[str, Any]) -> pa.Array | str:
    """Return the members of objects as text, without null members and empty objects."""
    members = [_format_member(name, value) for name, value in tree.items()]
    if not members:
        return ""
    # The join skips nulls and returns null for rows with nulls only. The first, empty text
    # prevents that.
    nothing = pa.repeat("", len(members[0]))
    joined = pc.binary_join_element_wise(nothing, *members, ",", null_handling="skip")
    return pc.utf8_slice_codeunits(joined, 1)


def _format_member(name: str, value: Any) -> pa.Array:
    key = f"{quote_name(name)}:"
    if not isinstance(value, dict):
        return pc.binary_join_element_wise(key, value, "")
    inside = _join_members(value)
    text = pc.binary_join_element_wise(f"{key}{{", inside, "}", "")
    return pc.if_else(pc.equal(inside, ""), None, text)


def _join(parts: Iterable[pa.Array | str], count: int) -> pa.Array:
    texts = [pa.repeat(one, count) if isinstance(one, str) else one for one in parts]
    return pc.binary_join_element_wise(*texts, "")
