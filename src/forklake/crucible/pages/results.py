"""Result of a statement as shown on pages: a page of rows, a plan, or a number of changed rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from forklake.crucible.sessions.cells import to_json_rows
from forklake.crucible.sessions.statements import Statement
from forklake.errors import ForklakeError

PAGE = 100
_LONGEST = 2_000  # characters of a value


@dataclass(frozen=True, slots=True)
class Heading:
    """Column of a result."""

    name: str
    type: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Page of rows, with None for NULL. For EXPLAIN, `plan` is set instead."""

    headings: list[Heading]
    rows: list[list[str | None]]
    first: int
    count: int
    plan: str | None = None

    @property
    def last(self) -> int:
        """Number of the last row on the page, counted from one."""
        return self.first + len(self.rows)


def read_result_page(
    statement: Statement, offset: int
) -> tuple[ResultPage | None, ForklakeError | None]:
    """Return the rows of a statement from an offset on, and its error. Either may be None."""
    if not statement.has_ended:
        return None, None
    try:
        found = statement.result()
    except ForklakeError as error:
        return None, error
    if statement.kind == "EXPLAIN":
        return ResultPage([], [], 0, 0, str(found.page(0, 1)["explain_value"][0].as_py())), None
    first = max(0, min(offset, found.count - 1))
    rows = to_json_rows(found.page(first, PAGE))
    texts = [[_format_value(value) for value in row] for row in rows]
    return ResultPage([_make_heading(one) for one in found.schema], texts, first, found.count), None


def _make_heading(field: pa.Field) -> Heading:
    kind = field.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return Heading(field.name, str(kind), is_number)


def _format_value(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
