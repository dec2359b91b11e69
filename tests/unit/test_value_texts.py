"""Values as text: round trips, and comparisons in the order of the values."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.errors import InvalidInput, Unsupported
from forklake.model.statistics import comparable
from forklake.model.values import INTEGER_RANGES, decimal_digits, from_text, to_text

VALUES: dict[str, st.SearchStrategy[Any]] = {
    **{kind: st.integers(low, high) for kind, (low, high) in INTEGER_RANGES.items()},
    "boolean": st.booleans(),
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
    "decimal(9,2)": st.decimals(-(10**7) + 1, 10**7 - 1, places=2),
    "decimal(38,38)": st.decimals(Decimal("-0.9"), Decimal("0.9"), places=38),
    "decimal(38,0)": st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    "varchar": st.text(st.characters(exclude_categories=["Cs"])),
    "json": st.sampled_from(["{}", "[1]", '"é"']),
    "uuid": st.uuids().map(str),
    "date": st.dates(),
    "time": st.times(),
    "timestamp": st.datetimes(),
    "timestamp_s": st.datetimes().map(lambda at: at.replace(microsecond=0)),
    "timestamp_ms": st.datetimes().map(lambda at: at.replace(microsecond=at.microsecond // 10**5)),
    "timestamptz": st.datetimes(timezones=st.just(dt.UTC)),
}
pairs = st.sampled_from(sorted(VALUES)).flatmap(
    lambda kind: st.tuples(st.just(kind), VALUES[kind], VALUES[kind])
)


@given(pairs)
def test_values_round_trip_through_text(case: tuple[str, Any, Any]) -> None:
    kind, value, _ = case
    text = to_text(kind, value)
    assert text is not None
    assert from_text(kind, text) == value
    assert to_text(kind, from_text(kind, text)) == text


@given(pairs)
def test_texts_have_the_order_of_their_values(case: tuple[str, Any, Any]) -> None:
    kind, one, other = case
    compare = comparable(kind)
    first, second = to_text(kind, one), to_text(kind, other)
    assert compare is not None
    assert first is not None
    assert second is not None
    if isinstance(one, str):
        one, other = one.encode(), other.encode()
    assert (compare(first) < compare(second)) == (one < other)
    assert (compare(first) == compare(second)) == (one == other)


# Direct neighbors, which a random pair never is.
@given(st.datetimes(), st.sampled_from([1, 10, 100_000, 500_000]), st.booleans())
def test_neighboring_timestamps_are_ordered(
    at: dt.datetime, microseconds: int, has_zone: bool
) -> None:
    kind = "timestamptz" if has_zone else "timestamp"
    whole = at.replace(microsecond=0, tzinfo=dt.UTC if has_zone else None)
    first, second = to_text(kind, whole), to_text(kind, whole.replace(microsecond=microseconds))
    assert first is not None
    assert second is not None
    assert first < second
    assert len(second) > len(first)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("boolean", True, "true"),
        ("uint64", Decimal(2**64 - 1), "18446744073709551615"),
        ("float64", -0.0, "0.0"),
        ("float64", math.nan, "nan"),
        ("float64", -math.inf, "-inf"),
        ("float64", 7, "7.0"),
        ("decimal(10,2)", Decimal("1E+3"), "1000.00"),
        ("decimal(10,2)", 5, "5.00"),
        ("decimal(10,2)", Decimal("0.005"), None),
        ("decimal(3,2)", Decimal("10"), None),
        ("decimal(3,2)", Decimal("nan"), None),
        ("date", dt.date(33, 1, 2), "0033-01-02"),
        ("time", dt.time(1, 2, 3, 450000), "01:02:03.45"),
        ("timestamp", dt.date(2024, 1, 2), "2024-01-02 00:00:00"),
        ("timestamptz", dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "2024-01-01 00:00:00+00"),
        (
            "timestamptz",
            dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "2023-12-31 22:00:00+00",
        ),
        ("timestamptz", dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-2))), None),
        ("uuid", UUID(int=255), "00000000-0000-0000-0000-0000000000ff"),
        ("uuid", UUID(int=255).bytes, "00000000-0000-0000-0000-0000000000ff"),
        ("uuid", b"short", None),
        ("blob", b"x", None),
        ("struct", {}, None),
        ("interval", dt.timedelta(1), None),
        ("int32", True, None),
        ("int32", 1.5, None),
        ("boolean", 1, None),
        ("varchar", b"x", None),
        ("date", dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None),
    ],
)
def test_values_have_the_expected_texts(kind: str, value: Any, text: str | None) -> None:
    assert to_text(kind, value) == text


@given(st.datetimes(timezones=st.just(dt.UTC)), st.times(), st.dates())
def test_times_are_formatted_as_in_duckdb(at: dt.datetime, clock: dt.time, day: dt.date) -> None:
    texts = (to_text("timestamptz", at), to_text("time", clock), to_text("date", day))
    back = duckdb.execute(
        "SELECT epoch_us(?::TIMESTAMPTZ), ?::TIME::VARCHAR, ?::DATE::VARCHAR", list(texts)
    ).fetchone()
    assert back is not None
    since = at - dt.datetime.fromtimestamp(0, dt.UTC)
    assert back == (since // dt.timedelta(microseconds=1), *texts[1:])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int8", "128"),
        ("uint8", "-1"),
        ("int32", "1_000"),
        ("int32", "1.5"),
        ("int32", ""),
        ("int32", "\N{ARABIC-INDIC DIGIT ONE}"),
        ("uint128", str(2**128)),
        ("float32", "1e39"),
        ("float64", "1e999"),
        ("float64", "one"),
        ("decimal(4,2)", "100"),
        ("decimal(4,2)", "1.005"),
        ("decimal(4,2)", "nan"),
        ("boolean", "yes!"),
        ("date", "2024-02-30"),
        ("date", "10000-01-01"),
        ("timestamp", "2024-01-01 00:00:00+02"),
        ("time", "24:00:00"),
        ("time", "12:00+01"),
        ("uuid", "1234"),
        ("blob", "\\xZZ"),
        ("blob", "é"),
    ],
)
def test_misfit_texts_are_refused(kind: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=kind.split("(", maxsplit=1)[0]):
        from_text(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int32", " +7 ", 7),
        ("float64", "Infinity", math.inf),
        ("float32", "0.1", 0.10000000149011612),
        ("decimal(4,2)", "1.500", Decimal("1.50")),
        ("boolean", "T", True),
        ("boolean", "0", False),
        ("timestamptz", "2024-01-01T00:00+02:00", dt.datetime(2023, 12, 31, 22, tzinfo=dt.UTC)),
        ("timestamptz", "2024-01-01", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
        ("uuid", "0000000000000000000000000000ABCD", "00000000-0000-0000-0000-00000000abcd"),
        ("blob", "a\\x00\\xFFb", b"a\x00\xffb"),
        ("blob", "", b""),
    ],
)
def test_alternative_texts_are_accepted(kind: str, text: str, value: Any) -> None:
    assert from_text(kind, text) == value


def test_types_without_texts_are_refused() -> None:
    for kind in ("struct", "list", "map", "interval", "timetz", "timestamp_ns"):
        with pytest.raises(Unsupported, match=kind):
            from_text(kind, "x")
    with pytest.raises(InvalidInput):
        decimal_digits("int32")
