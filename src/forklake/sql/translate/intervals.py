"""Translation of intervals: of days and smaller units, of months and years, or of both."""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

from forklake.sql.translate.calls import part_name
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.trees import duckdb_call, rewrite_nodes, strip_parentheses

# Function that builds an interval, by unit.
_INTERVAL_FUNCTIONS = {
    "year": "to_years",
    "quarter": "to_quarters",
    "month": "to_months",
    "week": "to_weeks",
    "day": "to_days",
    "hour": "to_hours",
    "minute": "to_minutes",
    "second": "to_seconds",
    "millisecond": "to_milliseconds",
    "microsecond": "to_microseconds",
}
# Units in interval strings, in months, days or seconds.
_UNIT_SIZES = {
    "year": ("month", Decimal(12)),
    "quarter": ("month", Decimal(3)),
    "month": ("month", Decimal(1)),
    "week": ("day", Decimal(7)),
    "day": ("day", Decimal(1)),
    "hour": ("second", Decimal(3600)),
    "minute": ("second", Decimal(60)),
    "second": ("second", Decimal(1)),
    "millisecond": ("second", Decimal("0.001")),
    "microsecond": ("second", Decimal("0.000001")),
}
_MAX_LENGTH = 1000  # characters of a text; numbers of a million digits take minutes
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)")
_CLOCK = re.compile(r"\s*([+-]?)(\d+):(\d+)(?::(\d+(?:\.\d+)?))?\s*$")


def translate_intervals(tree: exp.Expr) -> exp.Expr:
    """Translate INTERVAL expressions, and strings that are cast to INTERVAL, to calls."""
    return rewrite_nodes(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Interval):
        return node if isinstance(node.parent, exp.WindowSpec) else _translate_interval(node)
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.INTERVAL:
        if not node.this.is_string:
            raise unsupported("A cast to INTERVAL of an expression that is not constant")
        return _parse_interval(node.this.name)
    return node


def _translate_interval(node: exp.Expr) -> exp.Expr:
    value, unit = node.this, node.args.get("unit")
    if unit is None:
        if not value.is_string:
            raise unsupported("INTERVAL without a unit")
        return _parse_interval(value.name)
    if isinstance(value, exp.Literal):
        if not re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", value.name):
            return _parse_interval(f"{value.name} {unit.name}")
        if "." in value.name:
            raise unsupported(f"A fractional interval, {value.name} {unit.name},")
        value = exp.Literal.number(value.name.strip())
    return _build_interval(strip_parentheses(value), part_name(unit))


def _build_interval(value: exp.Expr, unit: str) -> exp.Expr:
    if unit not in _INTERVAL_FUNCTIONS:
        raise unsupported(f"An interval of the unit {unit}")
    return duckdb_call(_INTERVAL_FUNCTIONS[unit], value)


def _parse_interval(text: str) -> exp.Expr:
    """Return the call for an interval string such as '1 month 2 days 03:04:05'."""
    total, rest = dict.fromkeys(("month", "day", "second"), Decimal(0)), text
    if not text.strip() or len(text) > _MAX_LENGTH:
        raise unsupported(f"The interval '{text[:_MAX_LENGTH]}'")
    while found := _PART.match(rest):
        unit = part_name(exp.Var(this=found[2]))
        if unit not in _UNIT_SIZES:
            raise unsupported(f"An interval of the unit {unit}")
        base_unit, size = _UNIT_SIZES[unit]
        total[base_unit] += Decimal(found[1]) * size
        rest = rest[found.end() :]
    if clock := _CLOCK.match(rest):
        seconds = int(clock[2]) * 3600 + int(clock[3]) * 60 + Decimal(clock[4] or 0)
        total["second"] += -seconds if clock[1] == "-" else seconds
    elif rest.strip():
        raise unsupported(f"The interval '{text}'")
    days = int(total["day"])
    total["second"] += (total["day"] - days) * 86400
    total["day"] = Decimal(days)
    if total["month"] % 1:
        raise unsupported(f"The interval '{text}' with a fraction of a month")
    numbers = {unit: exp.Literal.number(str(value)) for unit, value in total.items() if value}
    match list(numbers):
        case [] | ["month"]:
            return duckdb_call("to_months", numbers.get("month", exp.Literal.number(0)))
        case ["day"] | ["second"] | ["day", "second"]:
            zero = exp.Literal.number(0)
            return duckdb_call(
                "to_days_seconds", numbers.get("day", zero), numbers.get("second", zero)
            )
    return duckdb_call(
        "to_months_days_seconds", *(exp.Literal.number(str(n)) for n in total.values())
    )
