"""Bounds of columns from Parquet footers.

A bound is stored only if it holds for every row of the file; otherwise there is none. Writers
differ about NaN: parquet-mr (which Spark uses) reports a maximum of NaN if a column contains one,
DuckDB then omits the bounds, and Arrow ignores NaN without any sign of it.
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

# Maximum characters of a bound; a longer one is truncated, and a maximum is rounded up.
MAX_BOUND = 256
_FLOATS = ("float32", "float64")
_TEXTS = ("varchar", "json", "uuid")
_CALENDAR_TYPES = ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamptz")
# Writers that report NaN as the maximum. Before 1.10 it depended on the order of the rows.
_TELLS_NAN = re.compile(r"parquet-mr version 1\.[1-9][0-9]+\.")
_LAST_CHARACTER, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)

Bounds = tuple[str | None, str | None]
NO_BOUNDS: Bounds = (None, None)


def column_bounds(metadata: Any, leaves: Mapping[str, Field]) -> Iterator[ColumnBounds]:
    """Yield the statistics of each leaf that is in the file, over all row groups.

    Args:
        leaves: fields that hold values, by their paths in the footer.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    count = Counter(paths)
    tells_nan = _TELLS_NAN.match(metadata.created_by or "") is not None
    is_old = _has_old_calendar(metadata.metadata or {})
    for number, path in enumerate(paths):
        field = leaves.get(path)
        # Two columns with one path cannot be distinguished: no statistics for either.
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
    # A row group that holds only NULL has no bounds, and does not make those of the others unknown.
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
    """Return the bounds of one row group as Python values.

    None if there are none, or if Python cannot represent them.
    """
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
    """Return bounds of times, or None if Python cannot represent them: it reads 24:00 as 00:00."""
    unit = 1000 if statistics.physical_type == "INT32" else 1
    raw = (statistics.min_raw * unit, statistics.max_raw * unit)
    return (low, high) if raw == (_microseconds(low), _microseconds(high)) else None


def _microseconds(at: time) -> int:
    return ((at.hour * 60 + at.minute) * 60 + at.second) * 1_000_000 + at.microsecond


def _contains_nan(pairs: Sequence[Pair | None], tells_nan: bool) -> bool | None:
    """Return whether a column contains NaN; None if that is unknown."""
    if any(value != value for pair in pairs if pair is not None for value in pair):
        return True
    return False if not pairs or (tells_nan and None not in pairs) else None


def _joined(column_type: str, pairs: Sequence[Pair | None]) -> Bounds:
    """Return the bounds over all row groups. A bound missing in one of them is missing in all."""
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
    """Return the text of a lower bound, truncated if it is too long."""
    text = _finite_text(column_type, value)
    return text if text is None or column_type not in _TEXTS else text[: _kept(text)]


def high_text(column_type: str, value: Any) -> str | None:
    """Return the text of an upper bound, truncated and rounded up if it is too long.

    None if the truncated text cannot be rounded up.
    """
    text = _finite_text(column_type, value)
    if text is None or column_type not in _TEXTS or _kept(text) == len(text):
        return text
    return _next_after(text[: _kept(text)])


def _finite_text(column_type: str, value: Any) -> str | None:
    """Return the text of a bound; None for an infinite one and for NaN, which exclude nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return to_text(column_type, value)


def _kept(text: str) -> int:
    """Return how many characters of a text to store.

    A text is cut at the limit and before the first NUL, which not every database can store.
    """
    nul = text.find("\0")
    return min(len(text), MAX_BOUND, nul if nul >= 0 else MAX_BOUND)


def _next_after(prefix: str) -> str | None:
    """Return the smallest text that is greater than every text with this prefix."""
    kept = prefix.rstrip(chr(_LAST_CHARACTER))
    if not kept:
        return None
    code = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if code in _SURROGATES else code)


def _has_old_calendar(metadata: Mapping[bytes, bytes]) -> bool:
    """Return whether Spark shifts the dates of this file from the Julian calendar on reading.

    The bounds in the footer then differ from the values that are read. Spark 2 wrote such files,
    and later versions write them in legacy mode.
    """
    version = metadata.get(b"org.apache.spark.version", b"")
    return version.startswith((b"1.", b"2.")) or b"org.apache.spark.legacyDateTime" in metadata
