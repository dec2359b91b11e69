"""Partition values: conversion between the texts of a log and those of the lake."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forklake.delta.values import lake_value, log_value
from forklake.errors import Corruption, Unsupported
from forklake.model.values import INTEGER_RANGES, from_text, to_text

# type, in the log, in the lake
READ = [
    ("varchar", " a/b=é ", " a/b=é "),
    ("varchar", "null", "null"),
    ("boolean", "true", "true"),
    ("boolean", "False", "false"),
    ("int8", "-128", "-128"),
    ("int64", "0042", "42"),
    ("float32", "0.1", "0.10000000149011612"),
    ("float64", "1.0E300", "1e+300"),
    ("float64", "NaN", "nan"),
    ("float64", "-Infinity", "-inf"),
    ("decimal(12,5)", "-2342342.2", "-2342342.20000"),
    ("decimal(38,18)", "1E+2", "100.000000000000000000"),
    ("date", "1970-01-01", "1970-01-01"),
    ("date", "+12020-03-04", "12020-03-04"),
    ("timestamptz", "2020-01-01 00:00:00.123", "2020-01-01 00:00:00.123+00"),
    ("timestamptz", "1970-01-01T00:00:00.123456Z", "1970-01-01 00:00:00.123456+00"),
    ("timestamptz", "2020-01-01T01:00:00+01:00", "2020-01-01 00:00:00+00"),
    ("timestamptz", "10000-01-01 00:59:59.999999", "10000-01-01 00:59:59.999999+00"),
    ("timestamp", "2020-01-01 00:00:00", "2020-01-01 00:00:00"),
    ("timestamp", "2020-01-01T00:00:00.5", "2020-01-01 00:00:00.5"),
    ("timestamp", "2020-01-01", "2020-01-01 00:00:00"),
    ("blob", "\u0001\\é", "\\x01\\x5C\\xC3\\xA9"),
    ("blob", "\\u0001\\u00fF", "\\x01\\xFF"),
    ("blob", "plain", "plain"),
]


@pytest.mark.parametrize(("kind", "text", "expected"), READ)
def test_partition_values_of_a_log_are_converted(kind: str, text: str, expected: str) -> None:
    assert lake_value(kind, text) == expected


@pytest.mark.parametrize("kind", ["varchar", "int32", "date", "blob", "decimal(3,1)"])
def test_missing_and_empty_texts_are_null(kind: str) -> None:
    assert lake_value(kind, None) is None
    assert lake_value(kind, "") is None
    assert log_value(kind, None) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int8", "128"),
        ("int32", "1.5"),
        ("boolean", "yes"),
        ("date", "2020-02-30"),
        ("decimal(3,1)", "100.0"),
        ("timestamp", "2020-01-01T00:00:00Z"),
        ("timestamptz", "noon"),
        ("float64", "much"),
    ],
)
def test_values_invalid_for_the_type_are_refused(kind: str, text: str) -> None:
    with pytest.raises(Corruption, match=f"{text}.*{kind.partition('(')[0]}"):
        lake_value(kind, text)


def test_values_that_one_side_cannot_represent_are_refused() -> None:
    for text in ("a\0b", "a\ud800"):
        with pytest.raises(Unsupported, match="partition value"):
            lake_value("varchar", text)
    with pytest.raises(Unsupported, match="empty text"):
        log_value("varchar", "")
    with pytest.raises(Unsupported, match="ff"):
        log_value("blob", "\\xFF")


def test_timestamps_are_written_in_utc() -> None:
    assert log_value("timestamptz", "2020-01-01 00:00:00.5+00") == "2020-01-01T00:00:00.5Z"
    assert log_value("timestamp", "2020-01-01 00:00:00.5") == "2020-01-01 00:00:00.5"
    assert log_value("float64", "-inf") == "-Infinity"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **{kind: st.integers(*INTEGER_RANGES[kind]) for kind in ("int8", "int16", "int32", "int64")},
    "boolean": st.booleans(),
    "float32": st.floats(width=32),
    "float64": st.floats(),
    "decimal(9,2)": st.decimals(-(10**7) + 1, 10**7 - 1, places=2),
    "decimal(38,38)": st.decimals(Decimal("-0.9"), Decimal("0.9"), places=38),
    "varchar": texts,
    "date": st.dates(),
    "timestamp": st.datetimes(),
    "timestamptz": st.datetimes(timezones=st.just(dt.UTC)),
}


@given(pair=st.sampled_from(sorted(VALUES)).flatmap(lambda k: st.tuples(st.just(k), VALUES[k])))
def test_partition_values_round_trip_through_a_log(pair: tuple[str, Any]) -> None:
    kind, value = pair
    text = to_text(kind, value)
    assert lake_value(kind, log_value(kind, text)) == text


@given(value=texts)
def test_binary_values_round_trip_through_a_log(value: str) -> None:
    assume(not value.startswith("\\u00"))
    kept = lake_value("blob", value)
    assert kept is not None
    assert kept.isascii()
    assert from_text("blob", kept) == value.encode()
    assert log_value("blob", kept) == value
