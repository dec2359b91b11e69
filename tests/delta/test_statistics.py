"""File statistics in a Delta log: bounds never exclude a value that a file contains."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.delta.schema import DeltaColumnMapping, DeltaField, parse_schema
from forklake.delta.statistics import (
    Leaf,
    Leaves,
    format_statistics,
    parse_statistics,
    statistics_leaves,
)
from forklake.errors import Unsupported
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.predicates import Compare, IsNotNull, IsNull, Predicate, matches
from forklake.model.values import INTEGER_RANGES, to_text
from tests.delta.corpus_logs import commit_actions, corpus_tables, needs_corpus

C = ColumnId(1)


def leaves_of(kind: str) -> Leaves:
    return {("c",): Leaf(C, kind)}


def stats_json(low: Any, high: Any, **further: Any) -> str:
    body = {"numRecords": 9, "minValues": {"c": low}, "maxValues": {"c": high}} | further
    return json.dumps(body)


def read(kind: str, text: str) -> ColumnBounds:
    _, (found,) = parse_statistics(text, leaves_of(kind))
    return found


def is_file_kept(kind: str, known: ColumnBounds, value: Any) -> bool:
    """Return whether a scan for the value includes a file with these bounds."""
    text = to_text(kind, value)
    if text is None:
        return True
    column = known.column_id
    wanted: list[Predicate] = [Compare(column, operator, text) for operator in ("=", "<=", ">=")]
    wanted.append(IsNotNull(column))
    return all(matches(one, {column: kind}, {column: known}) for one in wanted)


# From a log

# type, the bounds in the log, those in the lake
BOUNDS: list[tuple[str, Any, Any, str | None, str | None]] = [
    ("int64", -5, 2**63 - 1, "-5", "9223372036854775807"),
    ("int32", 1.5, "7", None, None),
    ("int32", True, None, None, None),
    ("boolean", False, True, "false", "true"),
    ("float64", -1, 2.5, "-1.0", "2.5"),
    ("float64", "-Infinity", "Infinity", None, None),
    ("decimal(5,2)", 1.5, 99, "1.50", "99.00"),
    ("decimal(5,2)", 1.555, 10**9, None, None),
    ("varchar", "a", "b", "a", "b"),
    ("varchar", "a" * 32, "b" * 32 + "\ufffd", "a" * 32, "b" * 31 + "c"),
    ("varchar", "\ud83d", "b" * 31 + "?\ufffd\ufffd", "", "b" * 30 + "c"),
    ("varchar", "a\0b", "\U0010ffff", "a", None),
    ("varchar", 1, 2, None, None),
    ("date", "2020-01-01", "2020-12-31", "2020-01-01", "2020-12-31"),
    ("date", "0100-01-01", "+12020-12-31", None, None),
    (
        "timestamptz",
        "2020-01-01T00:00:00.123Z",
        "2020-01-01T00:00:00.123Z",
        "2020-01-01 00:00:00.123+00",
        "2020-01-01 00:00:00.123999+00",
    ),
    (
        "timestamptz",
        "2020-01-01T00:00:00.000+01:00",
        "2020-01-01T00:00:00.000+01:00",
        "2019-12-31 22:59:00+00",
        "2019-12-31 23:01:00.000999+00",
    ),
    ("timestamptz", "2020-01-01T00:00:00", "9999-12-31T23:59:59.9999Z", None, None),
    (
        "timestamp",
        "2020-01-01T00:00:00.5",
        "2020-01-01",
        "2020-01-01 00:00:00.5",
        "2020-01-01 00:00:00.000999",
    ),
    ("blob", "a", "b", None, None),
]


@pytest.mark.parametrize(("kind", "low", "high", "least", "greatest"), BOUNDS)
def test_bounds_of_a_log_become_bounds_of_the_lake(
    kind: str, low: Any, high: Any, least: str | None, greatest: str | None
) -> None:
    known = read(kind, stats_json(low, high))
    assert (known.min_value, known.max_value) == (least, greatest)
    assert known.value_count == 9


def test_decimal_bounds_are_exact_within_double_precision() -> None:
    text = '{"minValues":{"c":%s},"maxValues":{"c":%s}}'
    short = read("decimal(38,2)", text % ("1234567890123.45", "1234567890123.45"))
    assert (short.min_value, short.max_value) == ("1234567890123.45",) * 2
    long = read("decimal(38,2)", text % (("12345678901234567890.12",) * 2))
    assert Decimal(long.min_value or 0) < Decimal("12345678901234567890.12")
    assert Decimal(long.max_value or 0) > Decimal("12345678901234567890.12")


def test_nan_is_not_a_bound() -> None:
    for text in (stats_json(1.0, "NaN"), stats_json(1.0, math.nan)):
        known = read("float64", text)
        assert (known.min_value, known.max_value, known.contains_nan) == ("1.0", None, True)
    assert read("float64", stats_json(1.0, 2.0)).contains_nan is None


def test_null_counts_after_deletes_are_exact_only_for_all_or_none() -> None:
    for nulls, tight, wide in ((0, 0, 0), (4, 4, None), (9, 9, 9), (10, None, None)):
        text = stats_json(1, 2, nullCount={"c": nulls})
        assert read("int64", text).null_count == tight
        text = stats_json(1, 2, nullCount={"c": nulls}, tightBounds=False)
        known = read("int64", text)
        assert known.null_count == wide
        assert (known.min_value, known.max_value) == ("1", "2")


def test_columns_without_statistics_have_no_bounds() -> None:
    leaves = {("s", "x"): Leaf(C, "int64"), ("y",): Leaf(ColumnId(2), "int64")}
    text = '{"numRecords":3,"minValues":{"s":{"x":1},"x":7},"nullCount":{"s":{"x":0},"y":null}}'
    rows, (known,) = parse_statistics(text, leaves)
    assert rows == 3
    assert known == ColumnBounds(C, value_count=3, null_count=0, min_value="1")


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{",
        "[]",
        "7",
        "null",
        "[" * 99_999,
        '{"numRecords":-1}',
        '{"numRecords":"3"}',
        '{"minValues":[1],"maxValues":3,"nullCount":{"c":-1}}',
        '{"minValues":{"c":1e999999999}}',
    ],
)
def test_invalid_statistics_are_ignored(text: str | None) -> None:
    for kind in ("int64", "float64", "decimal(38,2)"):
        rows, found = parse_statistics(text, leaves_of(kind))
        assert rows is None
        assert all(one == ColumnBounds(C) for one in found)


# Statistics as other writers compute them


def as_java(text: str) -> str:
    """Return an upper bound as Delta for Spark truncates it."""
    return text if len(text) <= 32 else text[:32] + "\ufffd"


def milliseconds(at: dt.datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def same(value: Any) -> Any:
    return value


Write = Callable[[Any], Any]
texts = st.text(st.characters(exclude_categories=["Cs"]))
long_texts = texts | st.text("a\uffff\U0001f600", min_size=30, max_size=40)
digits = st.integers(-(10**37), 10**37) | st.integers(10**16, 10**18)
EXACT = Context(prec=38)
WRITERS: dict[str, tuple[st.SearchStrategy[Any], Write, Write]] = {
    "int64": (st.integers(*INTEGER_RANGES["int64"]), same, same),
    "float64": (st.floats(allow_nan=False), same, same),
    "float32": (st.floats(width=32, allow_nan=False), lambda x: float(f"{x:.8g}"), same),
    "varchar": (long_texts, lambda x: x[:32], as_java),
    "date": (st.dates(), dt.date.isoformat, dt.date.isoformat),
    "timestamptz": (st.datetimes(timezones=st.just(dt.UTC)), milliseconds, milliseconds),
    "timestamp": (st.datetimes(), milliseconds, milliseconds),
    "decimal(38,10)": (digits.map(lambda x: Decimal(x).scaleb(-10, EXACT)), float, float),
    "decimal(9,2)": (st.decimals(-(10**6), 10**6, places=2), float, float),
}


@pytest.mark.parametrize("kind", WRITERS)
@settings(max_examples=40)
@given(data=st.data())
def test_no_value_of_a_file_is_outside_of_its_bounds(kind: str, data: st.DataObject) -> None:
    values_of_kind, low, high = WRITERS[kind]
    values = data.draw(st.lists(values_of_kind, min_size=1, max_size=5))
    known = read(kind, stats_json(low(min(values)), high(max(values)), nullCount={"c": 0}))
    assert all(is_file_kept(kind, known, value) for value in values)
    assert not matches(IsNull(C), {C: kind}, {C: known})


def test_statistics_of_another_writer_cover_its_values(tmp_path: Path) -> None:
    at = dt.datetime(2020, 1, 1, 12, 30, 15, 999_999, dt.UTC)
    table = pa.table(
        {
            "i": pa.array([3, None, -(2**62)], pa.int64()),
            "f": pa.array([0.1, 0.3, None], pa.float32()),
            "d": pa.array([Decimal("12345678901234567890.123"), None, None], pa.decimal128(38, 3)),
            "t": pa.array(["x" * 90, "é", "\U0001f600" * 50]),
            "day": pa.array([dt.date(2020, 2, 29), dt.date(1970, 1, 1), None]),
            "at": pa.array([at, None, at.replace(year=1999)], pa.timestamp("us", "UTC")),
            "s": pa.array([{"x": 1}, {"x": None}, None], pa.struct([("x", pa.int32())])),
        }
    )
    deltalake.write_deltalake(str(tmp_path), table)
    checked = list(checked_columns(tmp_path))
    assert len(checked) == 7


# To a log


def test_bounds_of_the_lake_are_written_in_delta_form() -> None:
    kinds = {
        "i": ("int64", "1", "2"),
        "d": ("decimal(38,2)", "-1.50", "12345678901234567890.12"),
        "f": ("float64", "1.5", "1e+300"),
        "t": ("varchar", "a" * 40, "é"),
        "u": ("varchar", "", "b" * 40),
        "b": ("boolean", "false", "true"),
        "day": ("date", "2020-01-01", "2020-12-31"),
        "at": ("timestamptz", "2020-01-01 00:00:00.000001+00", "2020-01-01 00:00:00.000001+00"),
        "w": ("timestamp", "2020-01-01 00:00:00", "2020-01-01 00:00:00.002"),
    }
    names = dict(enumerate(kinds))
    bounds = [
        ColumnBounds(ColumnId(number), 8, 9, 4, *kinds[name][1:], contains_nan=False)
        for number, name in names.items()
    ]
    leaves: Leaves = {("s", name): Leaf(ColumnId(n), kinds[name][0]) for n, name in names.items()}
    text = format_statistics(9, bounds, leaves, is_tight=False)
    assert '"d":-1.50,' in text
    body = json.loads(text)
    assert body["minValues"]["s"] == {
        "i": 1,
        "d": -1.5,
        "f": 1.5,
        "t": "a" * 32,
        "u": "",
        "day": "2020-01-01",
        "at": "2020-01-01T00:00:00.000Z",
        "w": "2020-01-01T00:00:00.000",
    }
    assert body["maxValues"]["s"] | {"d": 0} == {
        "i": 2,
        "d": 0,
        "f": 1e300,
        "t": "é",
        "u": "b" * 32 + "\U0010ffff",
        "day": "2020-12-31",
        "at": "2020-01-01T00:00:00.001Z",
        "w": "2020-01-01T00:00:00.002",
    }
    assert '"d":12345678901234567890.12,' in text
    assert body["nullCount"]["s"] == dict.fromkeys(kinds, 4)
    assert (body["numRecords"], body["tightBounds"]) == (9, False)


def test_columns_that_may_contain_nan_have_no_upper_bound_in_a_log() -> None:
    for contains_nan in (None, True):
        known = ColumnBounds(C, None, 1, 0, "1.0", "2.0", contains_nan)
        body = json.loads(format_statistics(1, [known], leaves_of("float64"), is_tight=True))
        assert (body["minValues"], body["maxValues"]) == ({"c": 1.0}, {})


@pytest.mark.parametrize("kind", WRITERS)
@settings(max_examples=40)
@given(data=st.data())
def test_bounds_still_hold_after_a_round_trip_through_a_log(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(WRITERS[kind][0], min_size=1, max_size=5))
    low, high = to_text(kind, min(values)), to_text(kind, max(values))
    known = ColumnBounds(C, None, len(values), 0, low, high, contains_nan=False)
    text = format_statistics(len(values), [known], leaves_of(kind), is_tight=True)
    rows, (found,) = parse_statistics(text, leaves_of(kind))
    assert (rows, found.null_count) == (len(values), 0)
    assert all(is_file_kept(kind, found, value) for value in values)


# Files of other writers


def lake_fields(fields: tuple[DeltaField, ...], numbers: Iterator[int]) -> tuple[Field, ...]:
    return tuple(
        Field(
            ColumnId(next(numbers)),
            one.name,
            one.physical_name,
            one.type,
            one.nullable,
            None,
            None,
            None,
            lake_fields(one.fields, numbers),
        )
        for one in fields
    )


def checked_columns(table: Path) -> Iterator[str]:
    """Yield the columns with bounds of all files of a table, after checking these bounds."""
    leaves: Leaves = {}
    for kind, body in commit_actions(table):
        if kind == "metaData" and "schemaString" in body:
            mapping = DeltaColumnMapping.of(body.get("configuration") or {})
            try:
                fields = parse_schema(body["schemaString"], mapping)
            except Unsupported:
                return
            leaves = statistics_leaves(lake_fields(fields, iter(range(10_000))))
        path = table / unquote(body.get("path", ""))
        if kind == "add" and body.get("stats") and path.is_file():
            rows, found = parse_statistics(body["stats"], leaves)
            data = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
            assert rows == data.num_rows
            known = {one.column_id: one for one in found}
            for name, leaf in leaves.items():
                if leaf.column_id in known and name[0] in data.column_names:
                    values = values_of(data, name, leaf.type)
                    require_within_bounds(f"{path} {name}", leaf, known[leaf.column_id], values)
                    yield leaf.type


def values_of(data: pa.Table, name: tuple[str, ...], kind: str) -> list[Any]:
    column = data[name[0]]
    for part in name[1:]:
        column = pc.struct_field(column, part)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", "UTC" if kind == "timestamptz" else None))
    found: list[Any] = column.to_pylist()
    return found


def require_within_bounds(place: str, leaf: Leaf, known: ColumnBounds, values: list[Any]) -> None:
    if None in values:
        types = {leaf.column_id: leaf.type}
        assert matches(IsNull(leaf.column_id), types, {leaf.column_id: known}), place
    there = sorted({value for value in values if value is not None and value == value})
    for value in (*there[:3], *there[-3:]):
        assert is_file_kept(leaf.type, known, value), f"{place}: {value} {known}"


@needs_corpus
def test_statistics_of_other_writers_hold_for_their_files() -> None:
    checked = [kind for table in corpus_tables("ok") for kind in checked_columns(table)]
    assert len(checked) > 1000


@needs_corpus
def test_statistics_of_other_writers_have_the_row_counts_of_their_files() -> None:
    bodies = (
        body
        for table in corpus_tables("ok", "log_only", "negative")
        for kind, body in commit_actions(table)
        if kind == "add" and body.get("stats")
    )
    assert all(parse_statistics(body["stats"], {})[0] is not None for body in bodies)
