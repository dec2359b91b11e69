"""Moments: the snapshot or time at which a table is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.sql import constants


@dataclass(frozen=True, slots=True)
class Moment:
    """A snapshot, a time, or by default now."""

    version: int | None = None
    timestamp: datetime | str | None = None

    @property
    def is_now(self) -> bool:
        """Whether neither is given."""
        return self.version is None and self.timestamp is None


NOW = Moment()


def moment_of(when: tuple[str, exp.Expr]) -> Moment:
    """The moment that an AT clause says."""
    kind, expression = when
    value = constants.value(expression)
    if kind == "VERSION" and isinstance(value, int) and not isinstance(value, bool):
        return Moment(version=value)
    if kind == "TIMESTAMP" and isinstance(value, datetime | str):
        return Moment(timestamp=value)
    if kind == "TIMESTAMP" and isinstance(value, date):
        return Moment(timestamp=value.isoformat())
    raise InvalidInput(
        f"A table cannot be read at the {kind.lower()} {expression.sql('duckdb')}.",
        remedy="Write AT (VERSION => 5) or AT (TIMESTAMP => '2024-01-31 12:00:00').",
    )
