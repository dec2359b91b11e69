"""Statistics: comparison of bounds stored as text, and their update by a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from forklake.model.entities import ColumnStatistics, TableStatistics
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, TableId

# Types whose bounds are compared as numbers. Times and dates are compared as their stored text,
# which is in order for the years 0001 to 9999; bounds of other years are not stored.
_NUMBERS = ("int", "uint", "float", "decimal")
_TEXTS = ("varchar", "date", "timestamp", "time", "boolean", "uuid", "json")


def comparable(column_type: str) -> Callable[[str], Any] | None:
    """Return the sort key for bounds of a type; None if the type has no bounds."""
    if column_type.startswith(_NUMBERS):
        return Decimal
    if column_type.startswith(_TEXTS) and column_type != "timetz":
        return str.encode
    return None


@dataclass(frozen=True, slots=True)
class TableDelta:
    """Change of the statistics of a table by a commit."""

    rows: int = 0
    row_ids: int = 0
    size: int = 0
    resets: bool = False  # the table was truncated first

    def applied_to(self, before: TableStatistics) -> TableStatistics:
        """Return the statistics after the commit."""
        rows = 0 if self.resets else before.record_count
        size = 0 if self.resets else before.file_size_bytes
        return replace(
            before,
            record_count=rows + self.rows,
            next_row_id=before.next_row_id + self.row_ids,
            file_size_bytes=size + self.size,
        )


def widened(
    before: ColumnStatistics | None,
    column: tuple[TableId, ColumnId, str],
    files: Iterable[ColumnBounds],
) -> ColumnStatistics:
    """Return bounds of a column that also cover new files; equal to `before` if that did already.

    A missing bound stays missing: no bound means "any value", never "no value".
    """
    table_id, column_id, column_type = column
    old = before or ColumnStatistics(table_id=table_id, column_id=column_id, contains_null=False)
    bounds = [] if before is None else [(old.min_value, old.max_value)]
    contains_null = bool(old.contains_null)
    contains_nan = False if before is None else old.contains_nan
    for file in files:
        contains_null = contains_null or file.null_count != 0
        contains_nan = _either(contains_nan, file.contains_nan)
        if file.value_count is None or file.null_count != file.value_count or not bounds:
            bounds.append((file.min_value, file.max_value))
    low, high = _union(bounds, comparable(column_type))
    return replace(
        old,
        contains_null=contains_null,
        contains_nan=contains_nan,
        min_value=low,
        max_value=high,
    )


def _either(one: bool | None, other: bool | None) -> bool | None:
    """Return whether one of two is true; None if that is unknown."""
    if one or other:
        return True
    return None if one is None or other is None else False


Bounds = tuple[str | None, str | None]


def _union(bounds: list[Bounds], parse: Callable[[str], Any] | None) -> Bounds:
    """Return the minimum and maximum of all bounds; none if one of them is missing."""
    lows = [low for low, _ in bounds if low is not None]
    highs = [high for _, high in bounds if high is not None]
    if parse is None or len(lows) < len(bounds) or len(highs) < len(bounds):
        return None, None
    try:
        return min(lows, key=parse), max(highs, key=parse)
    except InvalidOperation:
        return None, None
