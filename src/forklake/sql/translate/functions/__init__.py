"""Supported DuckDB functions by topic, with their translations to Spark SQL.

A function that is not in any table is refused.
"""

from __future__ import annotations

from forklake.sql.translate.functions import aggregates, casts, dates, nested, numbers, strings
from forklake.sql.translate.templates import ByType, Template

ALIASES: dict[str, str] = {
    **strings.ALIASES,
    **numbers.ALIASES,
    **dates.ALIASES,
    **nested.ALIASES,
}
FUNCTIONS: dict[str, Template | tuple[Template, ...]] = {
    **strings.STRINGS,
    **numbers.NUMBERS,
    **dates.DATES,
    **nested.NESTED,
    **casts.CASTS,
    **{
        f"aggregate {name}": entry.inner
        for name, entries in aggregates.AGGREGATES.items()
        for entry in (entries if isinstance(entries, tuple) else (entries,))
        if isinstance(entry.inner, ByType)
    },
}
