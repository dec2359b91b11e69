"""Snapshots and times at which tables are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.sql import constants


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """Snapshot or time at which a table is read; the current state by default."""

    version: int | None = None
    timestamp: datetime | str | None = None

    @property
    def is_current(self) -> bool:
        """Whether the current state is read."""
        return self.version is None and self.timestamp is None


CURRENT = ReadPoint()


def evaluate_read_point(when: tuple[str, exp.Expr]) -> ReadPoint:
    """Return the snapshot or time of an AT clause."""
    kind, expression = when
    value = constants.evaluate_constant(expression)
    if kind == "VERSION" and isinstance(value, int) and not isinstance(value, bool):
        return ReadPoint(version=value)
    if kind == "TIMESTAMP" and isinstance(value, datetime | str):
        return ReadPoint(timestamp=value)
    if kind == "TIMESTAMP" and isinstance(value, date):
        return ReadPoint(timestamp=value.isoformat())
    raise InvalidInput(
        f"A table cannot be read AT ({kind} => {expression.sql('duckdb')}).",
        remedy="Write AT (VERSION => 5) or AT (TIMESTAMP => '2024-01-31 12:00:00').",
    )
