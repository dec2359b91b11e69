"""Zones: groups of files, sorted by the bounds of a column, with common bounds for each group.

To find a few of very many files, the bounds of all zones are compared first, and then only the
files of zones that may match. A zone is tested like a file (`model.predicates.may_match`). Its
bounds may be wider than those of its files, so it may match in vain. Files whose bounds are missing
or cannot be parsed are in zones without bounds, which always match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.orders import Order, OrderKind
from forklake.model.predicates import LONG_TEXT, Question, may_match

SIZE = 512  # files per zone
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIMESTAMP = f"{_DATE}([ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}([.][0-9]+)?"
# Valid texts of bounds, and the type to sort them by. The other kinds of orders have too few values
# for sorting to help, or their bounds are not compared.
_FORMS: dict[OrderKind, tuple[str, pa.DataType]] = {
    OrderKind.INTEGER: ("-?[0-9]{1,18}", pa.int64()),
    OrderKind.BIG_INTEGER: ("-?[0-9]{1,38}", pa.decimal256(76, 0)),
    OrderKind.DECIMAL: ("-?[0-9]{1,38}([.][0-9]{1,37})?", pa.decimal256(76, 37)),
    OrderKind.FLOAT: ("-?[0-9]{1,20}([.][0-9]+)?(e[-+]?[0-9]{1,2})?", pa.float64()),
    OrderKind.TEXT: ("(?s:.*)", pa.string()),
    OrderKind.DATE: (_DATE, pa.string()),
    OrderKind.TIMESTAMP: (f"{_TIMESTAMP})?", pa.string()),
    OrderKind.TIMESTAMP_UTC: (f"{_TIMESTAMP}([+]00(:?00)?|Z))", pa.string()),
}
_KIND = b"order"  # key in the schema metadata of zones: the kind of order they were sorted by
_ZONES = pa.schema(
    {
        "low": pa.string(),
        "high": pa.string(),
        "contains_nan": pa.bool_(),
        "file_count": pa.int64(),
    }
)


@dataclass(frozen=True, slots=True)
class Zones:
    """Zones of a column: their bounds, and the ids of the files in each."""

    bounds: pa.Table
    numbers: list[pa.Table]


def has_zones(order: Order) -> bool:
    """Return whether files can be sorted by a column with this order."""
    return order.kind in _FORMS


def make_zones(numbers: pa.ChunkedArray, known: pa.Table, order: Order) -> Zones:
    """Group files into zones.

    Args:
        numbers: ids of the files.
        known: bounds of the files, as columns of the metastore.
    """
    low, high = (_keys(known[name], order) for name in ("min_value", "max_value"))
    columns = {"data_file_id": numbers, "low": low, "high": high}
    files = pa.table(columns | {"contains_nan": known["contains_nan"]})
    is_known = pc.and_(pc.is_valid(low), pc.is_valid(high))
    layers = _layers(files.filter(is_known).sort_by("low"))
    ordered = [group for layer in layers for group in _groups(layer)]
    unknown = list(_groups(files.filter(pc.invert(is_known))))
    bounds: list[tuple[object, ...]] = [_bounds(group, order) for group in ordered]
    bounds += [(None, None, None, group.num_rows) for group in unknown]
    rows = [dict(zip(_ZONES.names, one, strict=True)) for one in bounds]
    schema = _ZONES.with_metadata({_KIND: order.kind.value})
    return Zones(
        pa.Table.from_pylist(rows, schema),
        [group.select(["data_file_id"]) for group in (*ordered, *unknown)],
    )


def matching_zones(
    bounds: pa.Table, column_id: ColumnId, order: Order, asked: Question
) -> list[int]:
    """Return the indices of zones that may contain a matching file.

    These are all zones if the type of the column now has another order than when they were built.
    """
    if bounds.schema.metadata[_KIND].decode() != order.kind.value:
        return list(range(bounds.num_rows))
    columns = (bounds[name].to_pylist() for name in ("low", "high", "contains_nan"))
    return [
        place
        for place, (low, high, has_nan) in enumerate(zip(*columns, strict=True))
        if may_match(
            asked,
            {
                column_id: ColumnBounds(
                    column_id, min_value=low, max_value=high, contains_nan=has_nan
                )
            },
        )
    ]


def _layers(files: pa.Table) -> Iterator[pa.Table]:
    """Yield the files in layers, so that a few files with wide bounds do not widen every zone.

    Files that overlap more than the neighboring zone go to a layer of their own, recursively.
    """
    while (near := files.num_rows - SIZE) > 0:
        is_far = pc.greater(files["high"].slice(0, near), files["low"].slice(SIZE))
        far = files.slice(0, near).filter(is_far)
        if 2 * far.num_rows > files.num_rows:
            break
        yield pa.concat_tables([files.slice(0, near).filter(pc.invert(is_far)), files.slice(near)])
        files = far
    yield files


def _groups(files: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, files.num_rows, SIZE):
        yield files.slice(start, SIZE)


def _keys(texts: pa.ChunkedArray, order: Order) -> pa.ChunkedArray:
    """Return bounds as values that sort in their order; null for those that cannot be parsed."""
    shape, kind = _FORMS[order.kind]
    read = pc.if_else(pc.match_substring_regex(texts, f"^{shape}$"), texts, None)
    # Timestamps are compared by the second.
    if order.kind in {OrderKind.TIMESTAMP, OrderKind.TIMESTAMP_UTC}:
        return pc.replace_substring(pc.utf8_slice_codeunits(read, 0, 19), "T", " ")
    return pc.cast(read, kind)


def _bounds(files: pa.Table, order: Order) -> tuple[str, str, bool | None, int]:
    low, high = files["low"][0].as_py(), pc.max(files["high"]).as_py()
    if order.is_text:
        high = _cut(high, set(files["high"].to_pylist()))
    zone = "Z" if order.kind is OrderKind.TIMESTAMP_UTC else ""
    has_nan = None if pc.any(pc.fill_null(files["contains_nan"], True)).as_py() else False
    return f"{low}{zone}", f"{high}{zone}", has_nan, files.num_rows


def _cut(high: str, others: set[str]) -> str:
    """Return the upper bound of a zone of texts.

    An upper bound that may have been truncated stands for all texts with this prefix. A shorter
    bound that is a prefix of it covers more, so it is the safe choice.
    """
    for length in range(LONG_TEXT, len(high)):
        if high[:length] in others:
            return high[:length]
    return high
