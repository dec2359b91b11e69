"""Statistics: bounds as text, compared as their type compares, and how they add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from forklake.model.entities import ColumnStatistics, TableStatistics
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, TableId

# Types whose text is compared as a number; times and dates compare as the text they are stored as
# within the years 0001 to 9999, which is what the writer keeps bounds for.
_NUMBERS = ("int", "uint", "float", "decimal")
_TEXTS = ("varchar", "date", "timestamp", "time", "boolean", "uuid", "json")


def comparable(column_type: str) -> Callable[[str], Any] | None:
    """How bounds of a type are compared, or None where they are not kept."""
    if column_type.startswith(_NUMBERS):
        return Decimal
    if column_type.startswith(_TEXTS) and column_type != "timetz":
        return str.encode
    return None


@dataclass(frozen=True, slots=True)
class TableDelta:
    """What a commit adds to a table's statistics."""

    rows: int = 0
    row_ids: int = 0
    size: int = 0
    resets: bool = False  # the table was emptied first

    def applied_to(self, before: TableStatistics) -> TableStatistics:
        """The statistics after the commit."""
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
    """Bounds of a column that also hold for new files; equal to `before` if they held already.

    Bounds that are once unknown stay so: a row without them says "any value", never "no value".
    """
    table_id, column_id, column_type = column
    parse = comparable(column_type)
    after = before
    for file in files:
        has_null = file.null_count != 0
        bounds = (file.min_value, file.max_value) if parse else (None, None)
        if after is None:
            after = ColumnStatistics(
                table_id=table_id,
                column_id=column_id,
                contains_null=has_null,
                contains_nan=file.contains_nan,
                min_value=bounds[0],
                max_value=bounds[1],
            )
            continue
        if not _is_all_null(file):
            bounds = _union((after.min_value, after.max_value), bounds, parse)
        else:
            bounds = (after.min_value, after.max_value)
        after = replace(
            after,
            contains_null=after.contains_null or has_null,
            contains_nan=_either(after.contains_nan, file.contains_nan),
            min_value=bounds[0],
            max_value=bounds[1],
        )
    if after is None:
        raise ValueError("no files to take bounds from")
    return after


def _is_all_null(file: ColumnBounds) -> bool:
    return file.value_count is not None and file.null_count == file.value_count


def _either(one: bool | None, other: bool | None) -> bool | None:
    return one if other is None else bool(one) or other


Bounds = tuple[str | None, str | None]


def _union(one: Bounds, other: Bounds, parse: Callable[[str], Any] | None) -> Bounds:
    if parse is None or None in one or None in other:
        return None, None
    try:
        low = min(one[0] or "", other[0] or "", key=parse)
        high = max(one[1] or "", other[1] or "", key=parse)
    except InvalidOperation:
        return None, None
    return low, high
