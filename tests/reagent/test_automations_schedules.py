"""Cron schedules and the times that they denote, across changes of clocks and leap days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.errors import InvalidInput
from forklake.reagent.automations.schedules import Schedule

YEAR = timedelta(days=366)


def at(text: str) -> datetime:
    """Return a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "start", "moments"),
    [
        ("0 2 * * *", "UTC", "2026-11-16T18:00", ["2026-11-17T02:00", "2026-11-18T02:00"]),
        ("0 2 * * *", "Europe/Zurich", "2026-07-01T00:00", ["2026-07-02T00:00"]),
        ("0 2 * * *", "Europe/Zurich", "2026-06-30T23:59:59.5", ["2026-07-01T00:00"]),
        # Clocks go from 02:00 to 03:00: times in between are due at 03:00, once.
        ("30 2 * * *", "Europe/Zurich", "2027-03-27T12:00", ["2027-03-28T01:00"]),
        (
            "0,30 2 * * *",
            "Europe/Zurich",
            "2027-03-27T12:00",
            ["2027-03-28T01:00", "2027-03-29T00:00"],
        ),
        # Clocks go from 03:00 back to 02:00: a fixed time is due only the first time,
        (
            "30 2 * * *",
            "Europe/Zurich",
            "2027-10-30T12:00",
            ["2027-10-31T00:30", "2027-11-01T01:30"],
        ),
        # also when the search starts in the second of the two hours.
        ("30 2 * * *", "Europe/Zurich", "2027-10-31T01:10", ["2027-11-01T01:30"]),
        # A half-hourly schedule continues through both hours.
        (
            "*/30 * * * *",
            "Europe/Zurich",
            "2027-10-31T00:15",
            ["2027-10-31T00:30", "2027-10-31T01:00", "2027-10-31T01:30", "2027-10-31T02:00"],
        ),
        (
            "*/30 * * * *",
            "Europe/Zurich",
            "2027-03-28T00:15",
            ["2027-03-28T00:30", "2027-03-28T01:00", "2027-03-28T01:30"],
        ),
        ("0 0 29 2 *", "UTC", "2025-01-01T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        ("0 0 29 2 *", "UTC", "2097-01-01T00:00", ["2104-02-29T00:00"]),  # 2100 has none
        ("0 0 L * *", "UTC", "2028-02-01T00:00", ["2028-02-29T00:00", "2028-03-31T00:00"]),
        ("0 0 31 * *", "UTC", "2027-03-31T00:00", ["2027-05-31T00:00"]),
        ("0 9 * * MON-FRI", "UTC", "2026-11-20T10:00", ["2026-11-23T09:00"]),
        ("45 23 31 12 *", "Asia/Kathmandu", "2026-01-01T00:00", ["2026-12-31T18:00"]),
    ],
)
def test_a_schedule_denotes_these_times(
    text: str, zone: str, start: str, moments: list[str]
) -> None:
    found = islice(Schedule.parse(text, zone).after(at(start)), len(moments))
    assert list(found) == [at(one) for one in moments]


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("", "UTC"),
        ("* * * *", "UTC"),
        ("0 * * * * *", "UTC"),
        ("61 * * * *", "UTC"),
        ("0 0 30 2 *", "UTC"),
        ("@daily", "UTC"),
        ("* * * * *", "Mars/Olympus"),
        ("* * * * *", "../etc/passwd"),
        ("* * * * *", ""),
    ],
)
def test_invalid_schedules_are_refused(text: str, zone: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        Schedule.parse(text, zone)
    assert raised.value.remedy


@given(
    text=st.sampled_from(
        ["* * * * *", "30 2 * * *", "0 */7 * * *", "15 1 1 * *", "0 0 29 2 *", "5,35 1-3 * * SUN"]
    ),
    zone=st.sampled_from(["UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"]),
    end=st.datetimes(datetime(2026, 1, 1), datetime(2031, 1, 1)),  # noqa: DTZ001
    hours=st.integers(0, 24 * 30),
)
def test_the_latest_time_is_the_last_one_listed(
    text: str, zone: str, end: datetime, hours: int
) -> None:
    schedule = Schedule.parse(text, zone)
    until = end.replace(tzinfo=UTC)
    start = until - timedelta(hours=min(hours, 60) if text.startswith("* ") else hours)
    every = schedule.between(start, until, 10**6)
    assert every == sorted(set(every))
    assert all(start < one <= until for one in every)
    assert schedule.latest(start, until) == (every[-1] if every else None)


def test_the_latest_time_of_many_years_is_found_quickly() -> None:
    schedule = Schedule.parse("* * * * *", "Europe/Zurich")
    end = at("2026-11-16T18:00")
    assert schedule.latest(end - 20 * YEAR, end) == end
    assert Schedule.parse("0 0 29 2 *").latest(end - 20 * YEAR, end) == at("2024-02-29T00:00")
    assert Schedule.parse("0 0 29 2 *").latest(end - YEAR, end) is None
