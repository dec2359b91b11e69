"""Whether a file may match a predicate: the cases that are easy to get wrong."""

from __future__ import annotations

import pytest

from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.orders import order_of
from forklake.model.predicates import (
    And,
    Anything,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Not,
    Or,
    Predicate,
    StartsWith,
    after_prefix,
    matches,
)

C = ColumnId(1)


def may(predicate: Predicate, kind: str, low: str | None, high: str | None, **more: object) -> bool:
    """Return whether a file with these bounds may match."""
    counts = {"value_count": 10, "null_count": 0} | more
    bounds = ColumnBounds(C, min_value=low, max_value=high, **counts)  # type: ignore[arg-type]
    return matches(predicate, {C: kind}, {C: bounds})


@pytest.mark.parametrize(
    ("kind", "low", "high", "operator", "value", "expected"),
    [
        ("int64", "9", "10", "=", "9", True),  # not compared as text
        ("int64", "9", "10", ">", "10", False),
        ("int64", "9", "10", "<", "9", False),
        ("int64", "5", "5", "!=", "5", False),
        ("int64", "5", "6", "!=", "5", True),
        ("int64", "5", "6", "=", "5.5", True),  # not a value of the type: nothing can be pruned
        ("int64", "x", "6", "<", "0", True),
        ("int64", "x", "6", ">", "7", False),
        ("uint64", "18446744073709551614", "18446744073709551614", "=", "18446744073709551615", 0),
        ("decimal(38,2)", "0.10", "0.10", "=", "0.1", True),
        ("decimal(38,2)", "99999999999999999999.01", "99999999999999999999.01", "=", "1e20", False),
        ("float32", "0.1", "0.1", "=", "0.10000000149011612", True),
        ("float64", "1.0", "2.0", "=", "2.5", False),
        ("varchar", "a", "b", "=", "B", False),
        ("varchar", "a", "z", "=", "\u00e9", False),
        ("varchar", "\uffff", "\uffff", "<", "\U0001f600", True),  # by code point
        ("varchar", "a", "a" * 16, "=", "a" * 20, True),  # the bound may be truncated
        ("varchar", "a", "a" * 15, "=", "a" * 20, False),
        ("varchar", "a" * 16, "a" * 16, "!=", "a" * 16, True),
        ("boolean", "false", "false", "=", "true", False),
        ("boolean", "0", "0", "=", "true", True),
        ("date", "2024-01-01", "2024-01-31", ">", "2024-01-31", False),
        ("date", "-0044-03-15", "2024-01-31", "<", "0001-01-01", True),
        ("timestamp", "2024-01-01", "2024-01-01", "=", "2024-01-01 00:00:00", True),
        (
            "timestamp",
            "2024-01-01 00:00:00.5",
            "2024-01-01T00:00:01",
            ">",
            "2024-01-01 00:00:01",
            1,
        ),
        ("timestamp", "2024-01-01 00:00:00", "2024-01-01 00:00:01", ">", "2024-01-01 00:00:02", 0),
        (
            "timestamptz",
            "2024-01-01 00:00:00+02",
            "2024-01-01 00:00:00+02",
            "=",
            "2023-12-31 22:00:00+00",
            1,
        ),
        (
            "timestamptz",
            "2024-01-01 00:00:00+00",
            "2024-01-01 00:00:00+00",
            "=",
            "2023-12-31 22:00:00Z",
            0,
        ),
        ("time", "10:00:00", "11:00:00", "=", "12:00:00", False),
        ("blob", "a", "a", "=", "b", True),
        ("interval", "1 day", "1 day", "=", "2 days", True),
    ],
)
def test_comparisons_use_bounds(
    kind: str, low: str, high: str, operator: str, value: str, expected: bool
) -> None:
    assert may(Compare(C, operator, value), kind, low, high) is bool(expected)


def test_nulls_match_only_is_null() -> None:
    nulls = {"null_count": 10}
    for predicate in (Compare(C, "=", "1"), Compare(C, "!=", "1"), In(C, ("1",)), IsNotNull(C)):
        assert not may(predicate, "int64", None, None, **nulls)
    assert may(IsNull(C), "int64", None, None, **nulls)
    assert may(IsNull(C), "int64", "1", "1", null_count=None)
    assert not may(IsNull(C), "int64", "1", "1")
    assert may(Compare(C, "=", "1"), "int64", None, None, value_count=None, null_count=10)


def test_nan_is_greater_than_everything() -> None:
    for contains_nan, expected in ((True, True), (None, True), (False, False)):
        for operator in (">", ">="):
            predicate = Compare(C, operator, "5")
            assert may(predicate, "float64", "1.0", "2.0", contains_nan=contains_nan) is expected
    assert not may(Compare(C, "<", "0"), "float64", "1.0", "2.0", contains_nan=True)
    assert may(Compare(C, "=", "nan"), "float64", "1.0", "2.0", contains_nan=None)


def test_negations_match_values_but_not_nulls() -> None:
    assert not may(Not(Compare(C, "<", "5")), "int64", "1", "4")
    assert may(Not(Compare(C, "<", "5")), "int64", "1", "5")
    assert not may(Not(In(C, ("5", "6"))), "int64", "5", "5")
    assert not may(Not(IsNotNull(C)), "int64", "1", "1")
    both = And((Compare(C, ">", "0"), Compare(C, "<", "9")))
    assert not may(Not(both), "int64", "1", "8")
    assert may(Not(Or((StartsWith(C, "a"), Anything()))), "varchar", "a", "a")


def test_prefixes_use_bounds() -> None:
    assert may(StartsWith(C, "ab"), "varchar", "aa", "abc")
    assert not may(StartsWith(C, "ab"), "varchar", "ac", "b")
    assert not may(StartsWith(C, "ab"), "varchar", "a", "aa")
    assert may(StartsWith(C, ""), "varchar", "a", "b")
    assert after_prefix("a\U0010ffff") == "b"
    assert after_prefix("\ud7ff") == "\ue000"
    assert after_prefix("\U0010ffff") == ""


def test_files_with_unknown_bounds_may_match() -> None:
    assert matches(Compare(C, "=", "1"), {C: "int64"}, {})
    assert matches(Compare(C, "=", "1"), {}, {C: ColumnBounds(C, min_value="5", max_value="5")})
    assert may(Or((Compare(C, "=", "9"), Anything())), "int64", "1", "1")
    assert not may(Or(()), "int64", "1", "1")
    assert order_of("struct") is None
