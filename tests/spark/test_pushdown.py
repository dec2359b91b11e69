"""Predicates made from Spark SQL conditions, which never prune a file with a matching row."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklake.engines.pushdown import predicate_of
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.predicates import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Or,
    StartsWith,
    matches,
)
from forklake.model.values import to_text


def a_field(number: int, name: str, kind: str, *fields: Field, physical: str = "") -> Field:
    """Return a field as the catalog has it."""
    return Field(
        ColumnId(number), name, physical or name, kind, True, None, None, None, tuple(fields)
    )


FIELDS = (
    a_field(1, "i", "int32"),
    a_field(2, "big", "int64"),
    a_field(3, "x", "float64"),
    a_field(4, "f", "float32"),
    a_field(5, "price", "decimal(10,2)"),
    a_field(6, "name", "varchar"),
    a_field(7, "d", "date"),
    a_field(8, "ts", "timestamp"),
    a_field(9, "moment", "timestamptz"),
    a_field(10, "flag", "boolean"),
    a_field(11, "s", "struct", a_field(12, "sx", "int64"), a_field(13, "y", "varchar")),
    a_field(14, "l", "list", a_field(15, "element", "int64")),
    a_field(16, "new name", "int64", physical="old.name"),
    a_field(17, "u", "uuid"),
)


def compare(number: int, operator: str, value: str) -> Compare:
    return Compare(ColumnId(number), operator, value)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("i = 5", compare(1, "=", "5")),
        ("(t.i >= 5000000L)", compare(1, ">=", "5000000")),
        ("-5 > i", compare(1, "<", "-5")),
        ("i > 2.5BD", compare(1, ">", "2")),
        ("i <= 2.5D", compare(1, "<", "3")),
        ("CAST(i AS BIGINT) = 3000000000L", compare(1, "=", "3000000000")),
        ("CAST(big AS DOUBLE) < 10.0D", compare(2, "<", "10")),
        ("NOT (i < 5)", compare(1, ">=", "5")),
        ("i <> 5", compare(1, "!=", "5")),
        ("i <=> 5", compare(1, "=", "5")),
        ("i <=> NULL", IsNull(ColumnId(1))),
        ("i IS NULL", IsNull(ColumnId(1))),
        ("isnotnull(i)", IsNotNull(ColumnId(1))),
        ("NOT i IS NULL", IsNotNull(ColumnId(1))),
        ("i IN (1, 2L, NULL)", In(ColumnId(1), ("1", "2"))),
        ("i BETWEEN 1 AND 3", And((compare(1, ">=", "1"), compare(1, "<=", "3")))),
        ("NOT i BETWEEN 1 AND 3", Or((compare(1, "<", "1"), compare(1, ">", "3")))),
        ("x > 1.5D", compare(3, ">", "1.5")),
        ("price >= 1.005BD", compare(5, ">", "1.00")),
        ("name = 'it\\'s'", compare(6, "=", "it's")),
        ("name LIKE 'ab%c'", StartsWith(ColumnId(6), "ab")),
        ("startswith(name, 'ab')", StartsWith(ColumnId(6), "ab")),
        ("d = DATE '2024-01-31'", compare(7, "=", "2024-01-31")),
        ("d >= '2024-01-31'", compare(7, ">=", "2024-01-31")),
        ("d > TIMESTAMP_NTZ '2024-01-31 12:00:00'", compare(7, ">=", "2024-01-31")),
        ("ts < TIMESTAMP_NTZ '2024-01-31 12:00:00.50'", compare(8, "<", "2024-01-31 12:00:00.5")),
        ("ts >= DATE '2024-01-31'", compare(8, ">=", "2024-01-31 00:00:00")),
        (
            "CAST(ts AS DATE) = DATE '2024-01-31'",
            And((compare(8, ">=", "2024-01-31 00:00:00"), compare(8, "<", "2024-02-01 00:00:00"))),
        ),
        ("moment = TIMESTAMP '2024-01-31 12:00:00'", compare(9, "=", "2024-01-31 12:00:00+00")),
        (
            "moment = TIMESTAMP '2024-01-31 12:00:00+02:00'",
            compare(9, "=", "2024-01-31 10:00:00+00"),
        ),
        ("ts = TIMESTAMP '2024-01-31 12:00:00+02:00'", compare(8, "=", "2024-01-31 10:00:00")),
        ("flag", compare(10, "=", "true")),
        ("NOT flag", compare(10, "=", "false")),
        ("s.sx = 1", compare(12, "=", "1")),
        ("t.s.sx = 1", compare(12, "=", "1")),
        ("`NEW NAME` = 1", compare(16, "=", "1")),
        ("i = 1 AND rand() < 0.5", compare(1, "=", "1")),
        ("i = 1 OR (x < 1.0D AND d IS NULL)", None),
    ],
)
def test_a_condition_becomes_a_predicate(text: str, predicate: object) -> None:
    found = predicate_of([text], FIELDS)
    if predicate is None:
        assert isinstance(found, Or)
    else:
        assert found == predicate


@pytest.mark.parametrize(
    "text",
    [
        "i = 1 OR rand() < 0.5",
        "NOT (i = 1 AND rand() < 0.5)",
        "i % 2 = 0",
        "name = 5",
        "i = '5'",
        "CAST(i AS STRING) = '5'",
        "CAST(big AS INT) = 5",
        "CAST(big AS DOUBLE) > 1.0E18D",
        "CAST(big AS DOUBLE) = 9007199254740992.0D",  # 2**53 + 1 is the same double
        "big = 9007199254740992E0",
        "big <= 9.1E15D",
        "big IN (9007199254740992, 5E0)",
        f"big IN (1E0, 1{400 * '0'})",
        "price > 1.0D",
        "x = CAST('NaN' AS DOUBLE)",
        "name LIKE '%a'",
        "NOT name LIKE 'a%'",
        "i NOT IN (1, 2)",
        "i = NULL",
        "i IN (SELECT 1)",
        "l[0] = 1",
        "s IS NULL",
        "x.y.z = 1",
        "nothing = 1",
        "u = '00000000-0000-0000-0000-000000000000'",
        "upper(name) = 'A'",
        "i = 1 =",
        "TRUE",
        "",
    ],
)
def test_unsupported_conditions_prune_nothing(text: str) -> None:
    assert predicate_of([text], FIELDS) is None


def test_an_ambiguous_name_is_not_resolved() -> None:
    fields = [a_field(1, "t", "struct", a_field(2, "id", "int64")), a_field(3, "id", "int64")]
    assert predicate_of(["t.id = 1"], fields) is None
    assert predicate_of(["id = 1"], fields) == compare(3, "=", "1")


def test_predicates_use_physical_names() -> None:
    assert predicate_of(["`old.name` = 1L"], FIELDS, physical=True) == compare(16, "=", "1")
    assert predicate_of(["`new name` = 1L"], FIELDS, physical=True) is None


def test_timestamps_are_parsed_in_the_session_time_zone() -> None:
    text = "moment = TIMESTAMP '2024-01-31 12:00:00'"
    berlin = ZoneInfo("Europe/Berlin")
    assert predicate_of([text], FIELDS, zone=berlin) == compare(9, "=", "2024-01-31 11:00:00+00")
    assert predicate_of([text], FIELDS, zone=None) is None
    assert predicate_of(["ts = TIMESTAMP '2024-01-31 12:00:00'"], FIELDS, zone=berlin) is None


def test_a_condition_nested_too_deeply_prunes_nothing() -> None:
    assert predicate_of(["(" * 5000 + "i = 1" + ")" * 5000], FIELDS) is None


# Against rows

SMALL = st.integers(-3, 3)
HALVES = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 1.0, 2.5])
DAYS = st.integers(0, 3).map(lambda days: date(2024, 1, 30) + timedelta(days))
MOMENTS = st.tuples(DAYS, st.sampled_from([0, 1, 43_200_000_000, 86_399_999_999])).map(
    lambda pair: (
        datetime(pair[0].year, pair[0].month, pair[0].day)  # noqa: DTZ001
        + timedelta(microseconds=pair[1])
    )
)
WORDS = st.sampled_from(["", "a", "ab", "abc", "b", "ä", "\U0001f600", "a%"])
CENTS = st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100)
VALUES: dict[str, tuple[str, pa.DataType, st.SearchStrategy[Any]]] = {
    "i": ("int32", pa.int32(), SMALL),
    "big": ("int64", pa.int64(), SMALL | st.sampled_from([2**53 + 1, -(2**62)])),
    "x": ("float64", pa.float64(), HALVES | st.just(math.nan)),
    "f": ("float32", pa.float32(), HALVES | st.sampled_from([0.1, math.inf])),
    "price": ("decimal(10,2)", pa.decimal128(10, 2), CENTS),
    "name": ("varchar", pa.string(), WORDS),
    "d": ("date", pa.date32(), DAYS),
    "ts": ("timestamp", pa.timestamp("us"), MOMENTS),
    "flag": ("boolean", pa.bool_(), st.booleans()),
}
NUMBERS = {field.name: field for field in FIELDS}
TYPES = {field.column_id: field.type for field in FIELDS}
ROW = st.fixed_dictionaries({name: st.none() | kind for name, (_, _, kind) in VALUES.items()})

Pair = tuple[str, str]  # a condition as Spark writes it, and as DuckDB does


def literal(name: str, value: Any) -> Pair:
    """Return a literal in both dialects."""
    match value:
        case bool() | str():
            text = str(value).lower() if isinstance(value, bool) else f"'{value}'"
            return text, text
        case datetime():
            return f"TIMESTAMP_NTZ '{value}'", f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value}'", f"DATE '{value}'"
        case Decimal():
            return f"{value}BD", f"{value}"
        case float():
            return f"{value!r}D", f"{value!r}::DOUBLE"
    return (f"{value}L", f"{value}") if name == "big" else (f"{value}", f"{value}")


def cast(name: str) -> list[tuple[str, str, st.SearchStrategy[Any]]]:
    """Return a column, also in casts, with values to compare it with."""
    values = VALUES[name][2].filter(lambda value: value == value and abs_is_finite(value))
    found = [(name, name, values)]
    if name in {"i", "big"}:
        found.append((f"CAST({name} AS DOUBLE)", f"CAST({name} AS DOUBLE)", HALVES))
        decimal = f"CAST({name} AS DECIMAL(22,2))"
        found.append((decimal, decimal, CENTS))
    if name == "f":
        found.append(("CAST(f AS DOUBLE)", "CAST(f AS DOUBLE)", HALVES))
    if name == "d":
        found.append(("CAST(d AS TIMESTAMP_NTZ)", "CAST(d AS TIMESTAMP)", MOMENTS))
    if name == "ts":
        found.append(("CAST(ts AS DATE)", "CAST(ts AS DATE)", DAYS))
    return found


def abs_is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


@st.composite
def simple(draw: st.DrawFn) -> Pair:
    """Draw one comparison."""
    name = draw(st.sampled_from(sorted(VALUES)))
    spark, duck, values = draw(st.sampled_from(cast(name)))
    kind = draw(st.sampled_from(["compare", "mirror", "in", "between", "null", "same", "like"]))
    one, two = (literal(name, draw(values)) for _ in range(2))
    if kind == "null":
        sign = draw(st.sampled_from(["IS NULL", "IS NOT NULL"]))
        return f"({name} {sign})", f"({name} {sign})"
    if kind == "same":
        return f"({spark} <=> {one[0]})", f"({duck} IS NOT DISTINCT FROM {one[1]})"
    if kind == "in":
        return f"({spark} IN ({one[0]}, {two[0]}))", f"({duck} IN ({one[1]}, {two[1]}))"
    if kind == "between":
        return (
            f"({spark} BETWEEN {one[0]} AND {two[0]})",
            f"({duck} BETWEEN {one[1]} AND {two[1]})",
        )
    if kind == "like":
        pattern = draw(WORDS)
        return f"(name LIKE '{pattern}%')", f"(name LIKE '{pattern}%')"
    sign = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))
    if kind == "mirror":
        return f"({one[0]} {sign} {spark})", f"({one[1]} {sign} {duck})"
    return f"({spark} {sign} {one[0]})", f"({duck} {sign} {one[1]})"


def joined(sign: str) -> Any:
    return lambda pair: tuple(f"({one} {sign} {two})" for one, two in zip(*pair, strict=True))


CONDITIONS = st.recursive(
    simple(),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(joined("AND")),
        st.tuples(inner, inner).map(joined("OR")),
        inner.map(lambda pair: (f"(NOT {pair[0]})", f"(NOT {pair[1]})")),
        inner.map(lambda pair: tuple(f"({one} AND length(name) > 0)" for one in pair)),
    ),
    max_leaves=4,
)


def bounds_of(rows: list[dict[str, Any]]) -> dict[ColumnId, ColumnBounds]:
    """Return the bounds of the rows as the footer of a file records them."""
    found = {}
    for name, (kind, _, _) in VALUES.items():
        values = [row[name] for row in rows]
        if kind == "float32":
            values = pa.array(values, pa.float32()).to_pylist()
        present = [value for value in values if value is not None and value == value]
        key = str.encode if kind == "varchar" else None
        column_id = NUMBERS[name].column_id
        found[column_id] = ColumnBounds(
            column_id,
            value_count=len(values),
            null_count=values.count(None),
            min_value=to_text(kind, min(present, key=key)) if present else None,
            max_value=to_text(kind, max(present, key=key)) if present else None,
            contains_nan=any(value != value for value in values) if "float" in kind else None,
        )
    return found


@pytest.fixture(scope="module")
def oracle() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=3), condition=CONDITIONS)
def test_a_file_with_a_matching_row_is_never_pruned(
    oracle: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], condition: Pair
) -> None:
    spark, duck = condition
    predicate = predicate_of([spark], FIELDS, zone=UTC)
    if predicate is None or matches(predicate, TYPES, bounds_of(rows)):
        return
    schema = pa.schema([(name, kind) for name, (_, kind, _) in VALUES.items()])
    table = pa.Table.from_pylist(rows, schema)
    oracle.register("arrow_rows", table)
    oracle.execute("CREATE OR REPLACE TABLE rows AS FROM arrow_rows")
    assert oracle.execute(f"SELECT count(*) FROM rows WHERE {duck}").fetchall() == [(0,)]
