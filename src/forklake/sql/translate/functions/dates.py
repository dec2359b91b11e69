"""Translations of DuckDB functions for dates, times and timestamps."""

from __future__ import annotations

from forklake.sql.translate.templates import Template, by_type

ALIASES = {
    "datetrunc": "date_trunc",
    "datepart": "date_part",
    "datediff": "date_diff",
    "datesub": "date_sub",
    "dayofmonth": "day",
    "weekday": "dayofweek",
    "dow": "dayofweek",
    "doy": "dayofyear",
    "week": "weekofyear",
    "current_localtimestamp": "localtimestamp",
    "get_current_timestamp": "now",
    "transaction_timestamp": "now",
    "today": "current_date",
    "datefromparts": "make_date",
}

_AGE = "if(year(_0) > 0, (year(_0) - 1) div {0} + 1, year(_0) div {0} - 1)"

# The number for a part of a date or timestamp. Times have only the parts in TIME_PARTS.
PARTS: dict[str, str] = {
    "year": "cast(year(_0) as bigint)",
    "month": "cast(month(_0) as bigint)",
    "day": "cast(day(_0) as bigint)",
    "hour": "cast(hour(_0) as bigint)",
    "minute": "cast(minute(_0) as bigint)",
    "second": "cast(second(_0) as bigint)",
    "millisecond": "(unix_micros(cast(_0 as timestamp)) % 60000000 + 60000000) % 60000000 div 1000",
    "microsecond": "(unix_micros(cast(_0 as timestamp)) % 60000000 + 60000000) % 60000000",
    "quarter": "cast(quarter(_0) as bigint)",
    "week": "cast(weekofyear(_0) as bigint)",
    "dow": "cast(dayofweek(_0) - 1 as bigint)",
    "isodow": "cast(weekday(_0) + 1 as bigint)",
    "doy": "cast(dayofyear(_0) as bigint)",
    "isoyear": "cast(date_part('yearofweek', _0) as bigint)",
    "yearweek": "cast(date_part('yearofweek', _0) * 100 + weekofyear(_0) as bigint)",
    "decade": "cast(year(_0) div 10 as bigint)",
    "century": _AGE.format(100),
    "millennium": _AGE.format(1000),
    "epoch": "unix_micros(cast(_0 as timestamp)) / 1e6D",
    "era": "cast(year(_0) > 0 as bigint)",
}
TIME_PARTS: dict[str, str] = {
    "hour": "cast(hour(_0) as bigint)",
    "minute": "cast(minute(_0) as bigint)",
    "second": "cast(second(_0) as bigint)",
}
# Other names of parts.
PART_NAMES = {
    "years": "year", "y": "year", "yr": "year", "yrs": "year",
    "months": "month", "mon": "month", "mons": "month",
    "days": "day", "d": "day", "dayofmonth": "day",
    "hours": "hour", "h": "hour", "hr": "hour", "hrs": "hour",
    "minutes": "minute", "m": "minute", "min": "minute", "mins": "minute",
    "seconds": "second", "s": "second", "sec": "second", "secs": "second",
    "milliseconds": "millisecond", "ms": "millisecond", "msec": "millisecond",
    "microseconds": "microsecond", "us": "microsecond", "usec": "microsecond",
    "quarters": "quarter", "weeks": "week", "w": "week", "weekofyear": "week",
    "dayofweek": "dow", "weekday": "dow", "dayofyear": "doy",
    "decades": "decade", "centuries": "century", "millennia": "millennium",
}  # fmt: skip

# Parts that timestamps can be truncated to, and differences counted in.
UNITS = (
    "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter",
    "year",
)  # fmt: skip

# Spark has intervals of months, of days and smaller units, and mixed ones. Only mixed intervals
# cover all units, but they cannot be compared.
_OF_MONTHS = "make_interval(0, cast(extract(YEAR FROM {0}) * 12 + extract(MONTH FROM {0}) as int))"
_OF_DAYS = (
    "make_interval(0, 0, 0, cast(extract(DAY FROM {0}) as int),"
    " cast(extract(HOUR FROM {0}) as int), cast(extract(MINUTE FROM {0}) as int),"
    " cast(extract(SECOND FROM {0}) as decimal(18, 6)))"
)
_MIXED = (
    ("interval of months, interval of days", _OF_MONTHS.format("_0"), _OF_DAYS.format("_1")),
    ("interval of days, interval of months", _OF_DAYS.format("_0"), _OF_MONTHS.format("_1")),
    ("mixed interval, interval of months", "_0", _OF_MONTHS.format("_1")),
    ("mixed interval, interval of days", "_0", _OF_DAYS.format("_1")),
    ("interval of months, mixed interval", _OF_MONTHS.format("_0"), "_1"),
    ("interval of days, mixed interval", _OF_DAYS.format("_0"), "_1"),
)
_CLOCK = (
    "time_from_micros(pmod(time_to_micros({time}) {sign}"
    " unix_micros(timestamp '1970-01-01 00:00:00Z' + {interval}), 86400000000L))"
)
_MONTHS = (
    "java_monthsBetween(unix_micros(cast(_0 as timestamp)), unix_micros(cast(_1 as timestamp)))"
)

DATES: dict[str, Template | tuple[Template, ...]] = {
    **{
        f"part {part}": by_type(
            ("date|timestamp", template),
            *([("time", TIME_PARTS[part])] if part in TIME_PARTS else []),
        )
        for part, template in PARTS.items()
    },
    **{
        f"trunc {unit}": by_type(
            ("date", f"cast(date_trunc('{unit}', cast(_0 as timestamp)) as timestamp_ntz)"),
            ("timestamp", f"cast(date_trunc('{unit}', cast(_0 as timestamp)) as {{0}})"),
        )
        for unit in UNITS
    },
    **{
        f"diff {unit}": by_type(
            (
                "date|timestamp, date|timestamp",
                f"timestampdiff({unit}, date_trunc('{unit}', cast(_0 as timestamp)),"
                f" date_trunc('{unit}', cast(_1 as timestamp)))",
            )
        )
        for unit in UNITS
    },
    "diff week": by_type(  # counts whole weeks, not boundaries as all other units
        ("date|timestamp, date|timestamp", "datediff(cast(_1 as date), cast(_0 as date)) div 7")
    ),
    **{
        f"sub {unit}": by_type(
            (
                "date|timestamp, date|timestamp",
                f"timestampdiff({unit}, cast(_0 as timestamp), cast(_1 as timestamp))",
            )
        )
        for unit in UNITS
    },
    **{
        f"sub {unit}": by_type(("date|timestamp, date|timestamp", f"{_MONTHS} div {months}"))
        for unit, months in (("month", 1), ("quarter", 3), ("year", 12))
    },
    "dayname": by_type(("date|timestamp", "java_strftime(cast(_0 as timestamp_ntz), '%A')")),
    "monthname": by_type(("date|timestamp", "java_strftime(cast(_0 as timestamp_ntz), '%B')")),
    "last_day": by_type(("date|timestamp", "last_day(cast(_0 as date))")),
    "make_date": "make_date(cast(_0 as int), cast(_1 as int), cast(_2 as int))",
    "make_timestamp": by_type(
        ("integer", "cast(timestamp_micros(java_finite(cast(_0 as bigint))) as timestamp_ntz)"),
        (
            "integer, integer, integer, integer, integer, number",
            "cast(timestamp_micros(java_timestamp(cast(_0 as bigint), cast(_1 as bigint),"
            " cast(_2 as bigint), cast(_3 as bigint), cast(_4 as bigint), cast(_5 as double)))"
            " as timestamp_ntz)",
        ),
    ),
    "make_time": by_type(
        (
            "integer, integer, number",
            "time_from_micros("
            "java_clockMicros(cast(_0 as bigint), cast(_1 as bigint), cast(_2 as double)))",
        )
    ),
    "epoch_ms": by_type(
        ("integer", "cast(timestamp_millis(_0) as timestamp_ntz)"),
        ("date|timestamp", "unix_micros(cast(_0 as timestamp)) div 1000"),
    ),
    "epoch_us": by_type(("date|timestamp", "unix_micros(cast(_0 as timestamp))")),
    "epoch_ns": by_type(("date|timestamp", "unix_micros(cast(_0 as timestamp)) * 1000")),
    "to_timestamp": by_type(
        ("number", "timestamp_micros(cast(rint(cast(_0 as double) * 1000000) as bigint))")
    ),
    "strftime": by_type(
        ("timestamptz, text", "java_strftimeIn(unix_micros(_0), _1, current_timezone())"),
        ("date|timestamp, text", "java_strftime(cast(_0 as timestamp_ntz), _1)"),
        ("text, date|timestamp", "java_strftime(cast(_1 as timestamp_ntz), _0)"),
    ),
    "strptime": by_type(
        ("text, text", "cast(timestamp_micros(java_strptime(_0, _1)) as timestamp_ntz)")
    ),
    "try_strptime": by_type(
        ("text, text", "cast(timestamp_micros(java_tryStrptime(_0, _1)) as timestamp_ntz)")
    ),
    "now": "current_timestamp()",
    "current_date": "current_date()",
    "localtimestamp": "localtimestamp()",
    "at time zone": by_type(
        ("text, timestamp_ntz", "to_utc_timestamp(cast(_1 as timestamp), _0)"),
        ("text, timestamptz", "cast(from_utc_timestamp(_1, _0) as timestamp_ntz)"),
    ),
    "-": by_type(
        ("date, integer", "date_from_unix_date(java_addDays(unix_date(_0), -cast(_1 as bigint)))"),
        ("time, interval", _CLOCK.format(time="_0", sign="-", interval="_1")),
        *((kinds, f"{left} - {right}") for kinds, left, right in _MIXED),
        ("date, date", "cast(datediff(_0, _1) as bigint)"),
        ("date, interval", "cast(_0 as timestamp_ntz) - _1"),
        ("timestamp, timestamp|date", "_0 - cast(_1 as {0})"),
        ("date, timestamp", "cast(_0 as {1}) - _1"),
        ("any, any", "_0 - _1"),
    ),
    "+": by_type(
        ("date, integer", "date_from_unix_date(java_addDays(unix_date(_0), cast(_1 as bigint)))"),
        ("integer, date", "date_from_unix_date(java_addDays(unix_date(_1), cast(_0 as bigint)))"),
        ("date, time", "make_timestamp_ntz(_0, _1)"),
        ("time, date", "make_timestamp_ntz(_1, _0)"),
        ("time, interval", _CLOCK.format(time="_0", sign="+", interval="_1")),
        ("interval, time", _CLOCK.format(time="_1", sign="+", interval="_0")),
        *((kinds, f"{left} + {right}") for kinds, left, right in _MIXED),
        ("date, interval", "cast(_0 as timestamp_ntz) + _1"),
        ("interval, date", "cast(_1 as timestamp_ntz) + _0"),
        ("any, any", "_0 + _1"),
    ),
    "to_days_seconds": "make_dt_interval(cast(_0 as int), 0, 0, cast(_1 as decimal(18, 6)))",
    "to_months_days_seconds": (
        "make_interval(0, cast(_0 as int), 0, cast(_1 as int), 0, 0, cast(_2 as decimal(18, 6)))"
    ),
    "to_years": "make_ym_interval(cast(_0 as int), 0)",
    "to_quarters": "make_ym_interval(0, cast(_0 * 3 as int))",
    "to_months": "make_ym_interval(0, cast(_0 as int))",
    "to_weeks": "make_dt_interval(cast(_0 * 7 as int))",
    "to_days": "make_dt_interval(cast(_0 as int))",
    "to_hours": "make_dt_interval(0, cast(_0 as int))",
    "to_minutes": "make_dt_interval(0, 0, cast(_0 as int))",
    "to_seconds": "make_dt_interval(0, 0, 0, cast(_0 as decimal(18, 6)))",
    "to_milliseconds": "make_dt_interval(0, 0, 0, cast(_0 / 1000 as decimal(18, 6)))",
    "to_microseconds": "make_dt_interval(0, 0, 0, cast(_0 / 1000000 as decimal(18, 6)))",
}
for _part in ("year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond",
              "quarter", "isodow", "isoyear", "yearweek", "decade", "century", "millennium",
              "epoch", "era"):  # fmt: skip
    DATES[_part] = DATES[f"part {_part}"]
DATES |= {
    "dayofweek": DATES["part dow"],
    "dayofyear": DATES["part doy"],
    "weekofyear": DATES["part week"],
}
