"""Validation of values in foreign files whose type has values that the column type does not have.

Parquet has no timestamps of whole seconds, and text may or may not be JSON: such columns are read
before their file is added. Infinite dates and timestamps are found in the footer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forklake.engines.local.calculator import calculator
from forklake.errors import InvalidInput
from forklake.files.systems import open_input, translating
from forklake.model.fields import Field

_MICROSECONDS = {"timestamp_s": 1_000_000, "timestamp_ms": 1_000}
_BATCH = 65_536
_INFINITE = {"INT32": 2**31 - 1, "INT64": 2**63 - 1}


def needs_value_check(file_type: str, column_type: str) -> bool:
    """Return whether only some values of a file type are valid in a column type."""
    if column_type in _MICROSECONDS:
        return file_type != column_type
    return (file_type, column_type) == ("varchar", "json")


def require_values(path: str, columns: Mapping[str, Field]) -> None:
    """Read columns of a file, by path, and raise InvalidInput for a value that does not fit."""
    if not columns:
        return
    with open_input(path) as opened, translating(path):
        file = pq.ParquetFile(opened, coerce_int96_timestamp_unit="us")
        for name, field in columns.items():
            for batch in file.iter_batches(_BATCH, columns=[name]):
                for values in _leaf_arrays(batch.column(0)):
                    wrong = _misfit_finder(field)(values)
                    if wrong is not None:
                        raise _invalid(path, field, f"a value that does not fit: {wrong}")


def require_finite(path: str, metadata: Any, columns: Mapping[str, Field]) -> None:
    """Raise InvalidInput if a footer shows an infinite date or timestamp: Spark has none."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for at in range(group.num_columns):
            chunk = group.column(at)
            field = columns.get(chunk.path_in_schema)
            is_moment = field is not None and field.type.startswith(("date", "timestamp"))
            if field is None or not is_moment or not chunk.is_stats_set:
                continue
            limit = _INFINITE.get(chunk.physical_type)
            statistics = chunk.statistics
            if (
                limit
                and statistics.has_min_max
                and (statistics.max_raw == limit or statistics.min_raw in (-limit, -limit - 1))
            ):
                raise _invalid(path, field, "infinity, which Spark does not support")


def _misfit_finder(field: Field) -> Callable[[pa.Array], Any]:
    return (
        _find_invalid_json if field.type == "json" else lambda values: _find_fraction(values, field)
    )


def _find_fraction(values: pa.Array, field: Field) -> Any:
    size = _MICROSECONDS[field.type]
    micros = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    rest = pc.subtract(micros, pc.multiply(pc.divide(micros, size), size))
    found = values.filter(pc.not_equal(rest, 0))
    return found[0].as_py() if len(found) else None


def _find_invalid_json(values: pa.Array) -> Any:
    with calculator() as cursor:
        cursor.register("given", pa.table({"c": values}))
        found = cursor.execute(
            "SELECT c FROM given WHERE c IS NOT NULL AND TRY_CAST(c AS JSON) IS NULL LIMIT 1"
        ).fetchone()
    return None if found is None else str(found[0])[:100]


def _leaf_arrays(values: pa.Array) -> Iterator[pa.Array]:
    """Yield the innermost arrays of lists, maps and structs."""
    kind = values.type
    if pa.types.is_map(kind):
        # The file may have been read with only the keys, only the values, or both.
        yield from _leaf_arrays(values.keys)
        yield from _leaf_arrays(values.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaf_arrays(values.flatten())
    elif pa.types.is_struct(kind):
        for at in range(kind.num_fields):
            yield from _leaf_arrays(values.field(at))
    else:
        yield values


def _invalid(path: str, field: Field, what: str) -> InvalidInput:
    return InvalidInput(
        f"Column '{field.name}' is of type {field.type}, but the file {path!r} holds {what}.",
        remedy="Change the type of the column, or insert the rows with a CAST.",
        path=path,
    )
