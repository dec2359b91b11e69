"""Summary of the values of a column, as SUMMARIZE shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """Statistics of one column of a relation.

    Args:
        type: its type in DuckDB SQL.
        rows: the number of rows of the relation.
        count: the number of values that are not NULL.
        minimum, maximum, distinct: None for types without an order.
        average, deviation, quartiles: None for types that are not numbers.
    """

    name: str
    type: str
    rows: int
    count: int
    minimum: str | None = None
    maximum: str | None = None
    distinct: int | None = None
    average: float | None = None
    deviation: float | None = None
    quartiles: tuple[str | None, ...] | None = None
