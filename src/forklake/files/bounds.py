"""Bounds of columns, as Parquet footers tell them.

A bound that is kept is true for every row; where that is not certain there is none. What writers
put into footers differs: parquet-mr, Spark's writer, reports a maximum of NaN when there is any
NaN, DuckDB then reports nothing, and Arrow leaves NaN out without a word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import time
from typing import Any

from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.statistics import comparable
from forklake.model.values import to_text

# Characters kept of a bound; a longer one is cut, upwards where it is a maximum.
MAX_BOUND = 256
_FLOATS = ("float32", "float64")
_TEXTS = ("varchar", "json", "uuid")
_CALENDAR_TYPES = ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamptz")
# Writers whose maximum is NaN when there is one; before 1.10 it depended on the order of the rows.
_TELLS_NAN = re.compile(r"parquet-mr version 1\.[1-9][0-9]+\.")
_LAST_CHARACTER, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)

Bounds = tuple[str | None, str | None]
NO_BOUNDS: Bounds = (None, None)


def column_bounds(metadata: Any, leaves: Mapping[str, Field]) -> Iterator[ColumnBounds]:
    """What a footer says about each of the leaves that it has, by path; all row groups together."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    count = Counter(paths)
    tells_nan = _TELLS_NAN.match(metadata.created_by or "") is not None
    is_old = _has_old_calendar(metadata.metadata or {})
    for number, path in enumerate(paths):
        field = leaves.get(path)
        if field is None or count[path] > 1:
            continue
        chunks = [group.column(number) for group in groups]
        yield _bounds_of(
            field, chunks, tells_nan, has_bounds=not (is_old and field.type in _CALENDAR_TYPES)
        )


def _bounds_of(
    field: Field, chunks: Sequence[Any], tells_nan: bool, *, has_bounds: bool
) -> ColumnBounds:
    counted = [(chunk.num_values, chunk.statistics) for chunk in chunks if chunk.num_values]
    # A part without any value has no bounds and needs none.
    pairs = [
        _typed(field.type, one)
        for values, one in counted
        if one is None or not one.has_null_count or one.null_count < values
    ]
    low, high = _joined(field.type, pairs) if has_bounds else NO_BOUNDS
    return ColumnBounds(
        field.column_id,
        column_size_bytes=sum(chunk.total_compressed_size for chunk in chunks),
        value_count=sum(values for values, _ in counted),
        null_count=_sum_of_nulls([one for _, one in counted]),
        min_value=low,
        max_value=high,
        contains_nan=_contains_nan(pairs, tells_nan) if field.type in _FLOATS else None,
    )


def _sum_of_nulls(statistics: Sequence[Any]) -> int | None:
    if any(one is None or not one.has_null_count for one in statistics):
        return None
    return sum(int(one.null_count) for one in statistics)


Pair = tuple[Any, Any]


def _typed(column_type: str, statistics: Any) -> Pair | None:
    """The bounds of one part as Python values; None where there are none, or none of Python's."""
    if statistics is None or not statistics.has_min_max:
        return None
    try:
        low, high = statistics.min, statistics.max
        if isinstance(low, time):
            return _times(statistics, low, high)
        if column_type in ("varchar", "json") and isinstance(low, bytes):
            return low.decode(), high.decode()
    except (ValueError, OverflowError, KeyError):  # KeyError: no time zones on this machine
        return None
    return low, high


def _times(statistics: Any, low: time, high: time) -> Pair | None:
    """Times as they are; 24:00 is none of Python's and would come out as 00:00."""
    unit = 1000 if statistics.physical_type == "INT32" else 1
    raw = (statistics.min_raw * unit, statistics.max_raw * unit)
    return (low, high) if raw == (_microseconds(low), _microseconds(high)) else None


def _microseconds(at: time) -> int:
    return ((at.hour * 60 + at.minute) * 60 + at.second) * 1_000_000 + at.microsecond


def _contains_nan(pairs: Sequence[Pair | None], tells_nan: bool) -> bool | None:
    """Whether there is a NaN; None if nobody knows."""
    if any(value != value for pair in pairs if pair is not None for value in pair):
        return True
    return False if not pairs or (tells_nan and None not in pairs) else None


def _joined(column_type: str, pairs: Sequence[Pair | None]) -> Bounds:
    """The least and the greatest of all parts; each is unknown if it is so in one of them."""
    compare = comparable(column_type)
    if compare is None or not pairs or None in pairs:
        return NO_BOUNDS
    lows = [low_text(column_type, pair[0]) for pair in pairs if pair is not None]
    highs = [high_text(column_type, pair[1]) for pair in pairs if pair is not None]
    return (
        None if None in lows else min((text for text in lows if text is not None), key=compare),
        None if None in highs else max((text for text in highs if text is not None), key=compare),
    )


def low_text(column_type: str, value: Any) -> str | None:
    """The text of a lower bound, cut where it is too long."""
    text = _finite_text(column_type, value)
    return text if text is None or column_type not in _TEXTS else text[: _kept(text)]


def high_text(column_type: str, value: Any) -> str | None:
    """The text of an upper bound, cut upwards where it is too long; None if nothing is above."""
    text = _finite_text(column_type, value)
    if text is None or column_type not in _TEXTS or _kept(text) == len(text):
        return text
    return _next_after(text[: _kept(text)])


def _finite_text(column_type: str, value: Any) -> str | None:
    """The text of a bound. An infinite one bounds nothing, and NaN is never compared."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return to_text(column_type, value)


def _kept(text: str) -> int:
    """How much of a text is kept: up to the limit, and nothing from the first NUL on, which not
    every database can store."""
    nul = text.find("\0")
    return min(len(text), MAX_BOUND, nul if nul >= 0 else MAX_BOUND)


def _next_after(prefix: str) -> str | None:
    """The least text that comes after all that begin with the prefix."""
    kept = prefix.rstrip(chr(_LAST_CHARACTER))
    if not kept:
        return None
    code = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if code in _SURROGATES else code)


def _has_old_calendar(metadata: Mapping[bytes, bytes]) -> bool:
    """Whether Spark shifts dates of this file when it reads them, away from what the footer says:
    those of Spark 2, and those written in its way since."""
    version = metadata.get(b"org.apache.spark.version", b"")
    return version.startswith((b"1.", b"2.")) or b"org.apache.spark.legacyDateTime" in metadata
