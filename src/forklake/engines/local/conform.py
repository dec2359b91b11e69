"""Conversion of Python and Arrow rows to the columns of a table, without Spark.

Values are checked and converted like those of an SQL INSERT. Python values mostly have the right
type; others are cast by DuckDB, which also computes the defaults.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from forklake.engines.arrow_types import arrow_type, literal
from forklake.engines.local.calculator import calculator
from forklake.engines.local.constant_functions import is_plain_default
from forklake.engines.local.evaluation import EvaluationError, evaluate
from forklake.errors import InvalidInput
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.values import INTEGER_RANGES, has_date

Rows: TypeAlias = Sequence[Mapping[str, Any]] | Sequence[Sequence[Any]] | pa.Table

# Types for which Arrow accepts values out of range, or does not round.
_CHECKED = frozenset(
    "uint8 uint16 uint32 uint64 uint128 float32 timestamp_s timestamp_ms uuid json".split()
)
_MISFITS = (pa.ArrowException, OverflowError, TypeError, ValueError)


# Rows


def conformed(rows: Rows, fields: Sequence[Field], table: str) -> pa.Table:
    """Return the rows with all columns of a table, in its types; raise InvalidInput on misfits."""
    given, count = _columns(rows, fields, table)
    columns: list[pa.ChunkedArray | _Cast] = []
    for field in fields:
        path = f"{table}.{field.name}"
        values = given.get(folded(field.name))
        columns.append(
            _defaults(field, count, path) if values is None else _array(values, field, path)
        )
    arrays = _all_cast(columns, count)
    for field, array in zip(fields, arrays, strict=True):
        _require_finite(array, field, f"{table}.{field.name}")
        if array.null_count and not field.nulls_allowed:
            raise InvalidInput(
                f"NOT NULL constraint failed: {table}.{field.name}",
                remedy="Provide a value for the column.",
            )
    return pa.table(arrays, names=[field.name for field in fields])


def given_names(rows: Rows) -> set[str] | None:
    """Return the column names of rows, in lower case; None if rows have values by position."""
    if isinstance(rows, pa.Table):
        return {folded(name) for name in rows.column_names}
    named = [row for row in rows if isinstance(row, Mapping)]
    return {folded(name) for row in named for name in row} if named else None


Values: TypeAlias = list[Any] | pa.ChunkedArray


def _columns(rows: Rows, fields: Sequence[Field], table: str) -> tuple[dict[str, Values], int]:
    names = [field.name for field in fields]
    if isinstance(rows, pa.Table):
        _require_known(rows.column_names, names, table)
        return {folded(name): rows.column(name) for name in rows.column_names}, rows.num_rows
    listed: list[Any] = list(rows)
    if listed and all(isinstance(row, Mapping) for row in listed):
        return _of_mappings(listed, names, table), len(listed)
    for row in listed:
        if not isinstance(row, list | tuple) or len(row) != len(fields):
            raise InvalidInput(
                f"Table '{table}' has {len(fields)} columns but a row is {str(row)[:100]!r}.",
                remedy="Columns are: " + ", ".join(names),
            )
    by_position = {folded(name): [row[at] for row in listed] for at, name in enumerate(names)}
    return by_position, len(listed)


def _of_mappings(rows: Sequence[Any], names: Sequence[str], table: str) -> dict[str, Values]:
    """Return values by column. All rows must have the same columns.

    Otherwise a missing value could mean the default or NULL.
    """
    given = {name: None for row in rows for name in row}
    _require_known(list(given), names, table)
    for name in given:
        if any(name not in row for row in rows):
            raise InvalidInput(
                f"Some rows for table '{table}' have a value for '{name}' and others do not.",
                remedy="Provide the same columns in all rows; None stands for NULL.",
            )
    return {folded(name): [row[name] for row in rows] for name in given}


def _require_known(given: Sequence[str], names: Sequence[str], table: str) -> None:
    known = {folded(name) for name in names}
    unknown = [name for name in given if folded(name) not in known]
    twice = [name for name in given if [folded(one) for one in given].count(folded(name)) > 1]
    if unknown or twice:
        listed = ", ".join(f"'{name}'" for name in unknown or twice)
        problem = f"has no column {listed}" if unknown else f"is given the column {listed} twice"
        raise InvalidInput(f"Table '{table}' {problem}.", remedy="Columns are: " + ", ".join(names))


# One column


def _array(values: Values, field: Field, path: str) -> pa.ChunkedArray | _Cast:
    wanted = arrow_type(field)
    if not isinstance(values, list):
        array = values
    elif field.fields:
        array = _convert_array([_shape_value(value, field, path) for value in values], wanted, path)
    else:
        array = _infer_array([_plain(value) for value in values], field, path)
    if array.type == wanted and not _is_checked(field):
        return array
    return _Cast(array, field, path)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, uuid.UUID) else value


def _infer_array(values: list[Any], field: Field, path: str) -> pa.ChunkedArray:
    """Return values in the column type, or in the type that Arrow infers, to be cast."""
    cuts = field.type == "float32" or field.type in INTEGER_RANGES  # where Arrow may lose a part
    # Arrow decodes bytes as UTF-8 text without an error.
    cuts = cuts or (field.type == "varchar" and any(isinstance(one, bytes) for one in values))
    for kind in (None,) if cuts else (arrow_type(field), None):
        with suppress(*_MISFITS):
            return pa.chunked_array([pa.array(values, kind)])
    # The values have several types: convert all of them to text, which DuckDB casts.
    texts = [None if value is None else _text(value, path) for value in values]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _text(value: Any, path: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | Decimal | date | time):
        return str(value)
    raise InvalidInput(
        f"Column '{path}' cannot hold {str(value)[:100]!r}.",
        remedy="Provide a value of the column type.",
    )


def _convert_array(values: list[Any], wanted: pa.DataType, path: str) -> pa.ChunkedArray:
    try:
        return pa.chunked_array([pa.array(values, wanted)])
    except _MISFITS as reason:
        raise InvalidInput(
            f"Column '{path}' cannot hold the given values: {reason}.",
            remedy="Provide values of the column type.",
        ) from None


def _shape_value(value: Any, field: Field, path: str) -> Any:
    """Return a nested value as Arrow takes it: maps as pairs, structs with known fields only."""
    if value is None or not field.fields:
        return _plain(value)
    match field.type, value:
        case "struct", Mapping():
            _require_known(list(value), [part.name for part in field.fields], path)
            known = {folded(name): item for name, item in value.items()}
            return {
                part.name: _shape_value(known.get(folded(part.name)), part, f"{path}.{part.name}")
                for part in field.fields
            }
        case "list", list() | tuple():
            return [_shape_value(item, field.fields[0], f"{path}.element") for item in value]
        case "map", Mapping() | list() | tuple():
            pairs = value.items() if isinstance(value, Mapping) else value
            key, item = field.fields
            return [
                (_shape_value(one, key, f"{path}.key"), _shape_value(other, item, f"{path}.value"))
                for one, other in pairs
            ]
    raise InvalidInput(
        f"Column '{path}' of type {field.type} cannot hold {str(value)[:100]!r}.",
        remedy="Provide structs and maps as dictionaries, lists as lists.",
    )


def _require_finite(array: pa.ChunkedArray, field: Field, path: str) -> None:
    """Raise InvalidInput for an infinite date or timestamp, which Spark does not have."""
    if not _has_moments(field):
        return
    for values in _leaves(array):
        width = {32: pa.int32(), 64: pa.int64()}[values.type.bit_width]
        limits = pc.min_max(values.cast(width)).as_py()
        least, greatest = limits["min"], limits["max"]
        most = 2 ** (values.type.bit_width - 1) - 1
        if greatest == most or (least is not None and least <= -most):
            raise InvalidInput(
                f"Column '{path}' of type {field.type} cannot hold 'infinity'.",
                remedy="Use NULL, or a date such as 9999-12-31. Nothing was written.",
            )


def _has_moments(field: Field) -> bool:
    return has_date(field.type) or any(map(_has_moments, field.fields))


def _leaves(values: pa.Array | pa.ChunkedArray) -> Iterator[pa.Array | pa.ChunkedArray]:
    """Yield the dates and timestamps in a column, including nested ones."""
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        yield values
    elif isinstance(values, pa.ChunkedArray):
        if pa.types.is_nested(kind):
            yield from (leaf for chunk in values.chunks for leaf in _leaves(chunk))
    elif pa.types.is_map(kind):
        yield from _leaves(values.keys)
        yield from _leaves(values.items)
    elif pa.types.is_list(kind):
        yield from _leaves(values.flatten())
    elif pa.types.is_struct(kind):
        yield from (leaf for part in values.flatten() for leaf in _leaves(part))


def _is_checked(field: Field) -> bool:
    return field.type in _CHECKED or any(_is_checked(part) for part in field.fields)


def _defaults(field: Field, count: int, path: str) -> pa.ChunkedArray | _Cast:
    wanted = arrow_type(field)
    if field.default_value is None:
        return pa.chunked_array([pa.nulls(count, wanted)])
    if field.default_value_type == "literal" and not field.fields:
        value = literal(field.default_value, field)
        return pa.chunked_array([pa.array([value] * count, wanted)])
    query = f"SELECT CAST(({field.default_value}) AS {duckdb_type(field)}) FROM range({count})"
    try:
        if is_plain_default(field.default_value, duckdb_type(field)):
            return _Cast(field.default_value, field, path)
        return retyped(evaluate(query).column(0), wanted)
    except (EvaluationError, InvalidInput) as reason:
        problem = reason.message if isinstance(reason, InvalidInput) else str(reason)
        raise InvalidInput(
            f"The default {field.default_value!r} of column '{path}' cannot be computed: {problem}",
            remedy="Provide a value for the column, or change its default.",
        ) from None


def retyped(array: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """Return the same values with other names of nested fields, units and widths."""
    if array.type == wanted:
        return array
    if not pa.types.is_nested(wanted):
        return _cast_leaf(array, wanted)
    return pa.chunked_array([_rename_nested(chunk, wanted) for chunk in array.chunks], wanted)


def _rename_nested(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    if array.type == wanted:
        return array
    mask = array.is_null() if array.null_count else None
    if pa.types.is_struct(wanted):
        # The fields are in the order of the column; only their names may be other ones.
        parts = [_rename_nested(array.field(at), part.type) for at, part in enumerate(wanted)]
        return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=mask)
    if pa.types.is_map(wanted):
        keyed, held = (
            _rename_nested(array.keys, wanted.key_type),
            _rename_nested(array.items, wanted.item_type),
        )
        return pa.MapArray.from_arrays(array.offsets, keyed, held, wanted, mask=mask)
    if pa.types.is_list(wanted):
        inner = _rename_nested(array.values, wanted.value_type)
        return pa.ListArray.from_arrays(array.offsets, inner, wanted, mask=mask)
    return _cast_leaf(array, wanted)


def _cast_leaf(array: Any, wanted: pa.DataType) -> Any:
    try:
        return array.cast(wanted)
    except pa.ArrowInvalid as reason:  # infinity in seconds, among others
        raise InvalidInput(
            f"A value does not fit into a column of {wanted}: {reason}.",
            remedy="Use NULL, or a date such as 9999-12-31. Nothing was written.",
        ) from None


# DuckDB


@dataclass(frozen=True, slots=True)
class _Cast:
    """Values, or an expression for each row, that are cast to the type of a column."""

    source: pa.ChunkedArray | str
    field: Field
    path: str


def _all_cast(columns: Sequence[pa.ChunkedArray | _Cast], count: int) -> list[pa.ChunkedArray]:
    """Return the columns, cast in one query; after an error, in one query per column."""
    casts = {at: column for at, column in enumerate(columns) if isinstance(column, _Cast)}
    if not casts:
        return list(columns)
    try:
        done = dict(zip(casts, _cast(list(casts.values()), count), strict=True))
    except duckdb.Error:
        done = {at: _cast_alone(cast, count) for at, cast in casts.items()}
    return [done.get(at, column) for at, column in enumerate(columns)]


def _cast_alone(cast: _Cast, count: int) -> pa.ChunkedArray:
    try:
        return _cast([cast], count)[0]
    except duckdb.Error as reason:
        problem = str(reason).split("\n", 1)[0].split(": ", 1)[-1]
        raise InvalidInput(
            f"Column '{cast.path}' of type {cast.field.type} cannot hold a value:"
            f" {problem.split(' when casting from source column', 1)[0]}.",
            remedy="Nothing was written. Correct the value.",
        ) from None


def _cast(casts: Sequence[_Cast], count: int) -> list[pa.ChunkedArray]:
    given = {"row": pa.nulls(count, pa.bool_())}  # for the number of rows
    chosen = []
    for at, cast in enumerate(casts):
        source = cast.source
        if not isinstance(source, str):
            given[f"c{at}"], source = source, f"c{at}"
        chosen.append(f"CAST(({source}) AS {duckdb_type(cast.field)}) AS r{at}")
    with calculator() as cursor:
        cursor.register("given", pa.table(given))
        found = cursor.execute(f"SELECT {', '.join(chosen)} FROM given").to_arrow_table()
    return [
        retyped(column, arrow_type(cast.field))
        for column, cast in zip(found.columns, casts, strict=True)
    ]
