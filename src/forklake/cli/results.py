"""Formats of the results of statements: tables, JSON and CSV.

DuckDB converts the values to text and JSON, so that all types look as in its SQL.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forklake.cli.formatting import duration, escape
from forklake.cli.output import make_console
from forklake.model.figures import counted
from forklake.model.names import folded, quoted

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from forklake.sql.results import Result

SHOWN = 100
_MORE = "…"
# Columns get at least this width, or all that they need if that is less; then the gap between two.
_LEAST, _GAP = 12, 3
# Tables fetch more rows than they show, up to this number, to display how many there are.
_COUNTED = 10_000


class RowFormat(Enum):
    """Output formats of rows."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class FetchedResult:
    """Fetched rows of a result. `is_cut` is set if the result has more rows."""

    kind: str
    rows: pa.Table
    is_cut: bool = False

    @property
    def is_done(self) -> bool:
        """Whether the result is only the status of a statement without rows."""
        return bool(self.rows.column_names == ["status"] and self.kind != "SELECT")

    @property
    def count(self) -> int | None:
        """Number of changed rows, or None if the result has other rows."""
        if self.rows.column_names != ["Count"] or self.kind == "SELECT":
            return None
        return int(self.rows["Count"][0].as_py())


def fetch_result(result: Result, row_format: RowFormat, limit: int | None) -> FetchedResult:
    """Fetch the rows of a result that `row_format` and `limit` need. Spark jobs run now."""
    if result.is_local:
        return FetchedResult(result.kind, result.data)
    from forklake.engines.spark.progress import progress
    from forklake.sql.results import Result

    most = limit if row_format is not RowFormat.TABLE else max(limit or SHOWN, _COUNTED)
    data: Any = result.data
    limited = result if most is None else Result(result.kind, data.limit(most + 1))
    with progress("Running"):
        rows = limited.arrow()
    is_cut = most is not None and rows.num_rows > most
    return FetchedResult(result.kind, rows.slice(0, most) if is_cut else rows, is_cut)


def show_result(
    result: FetchedResult, row_format: RowFormat, *, limit: int | None, seconds: float | None
) -> None:
    """Print an answer and, on a terminal, the time that it took.

    JSON and CSV have no output for statements without rows, which programs would have to skip.
    """
    if row_format is RowFormat.TABLE:
        _draw(result, limit or SHOWN, seconds)
    elif not result.is_done:
        rows = result.rows.slice(0, limit)
        sys.stdout.writelines(json_lines(rows) if row_format is RowFormat.JSON else csv_lines(rows))
        sys.stdout.flush()


def json_lines(rows: pa.Table) -> Iterator[str]:
    """Yield rows as one JSON array of objects, each object on one line."""
    rows = rows.rename_columns(_number_duplicates(rows.column_names))
    # JSON has no infinity and no NaN: they become null.
    finite = ", ".join(
        f"CASE WHEN isfinite({quoted(name)}) THEN {quoted(name)} END AS {quoted(name)}"
        for name, kind in zip(rows.column_names, rows.schema.types, strict=True)
        if pa.types.is_floating(kind)
    )
    replaced = f"REPLACE ({finite})" if finite else ""
    query = f"SELECT to_json(__row) FROM (SELECT * {replaced} FROM __rows) AS __row"
    lead = "["
    for (text,) in _query_rows(query, rows):
        yield lead + _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
        lead = ",\n "
    yield "]\n" if lead != "[" else "[]\n"


# Escaped, so that the encoding of the terminal does not matter.
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def csv_lines(rows: pa.Table) -> Iterator[str]:
    """Yield rows as CSV (RFC 4180) with a header. NULL is empty, an empty string is quoted."""
    for row in (rows.column_names, *format_rows(rows)):
        yield ",".join(map(_csv_field, row)) + "\r\n"


def _csv_field(text: str | None) -> str:
    if text is None:
        return ""
    if text == "" or any(one in text for one in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def format_rows(rows: pa.Table) -> list[tuple[str | None, ...]]:
    """Return the values of rows as texts, None for NULL."""
    rows = rows.rename_columns(_number_duplicates(rows.column_names))
    return _query_rows("SELECT COLUMNS(*)::VARCHAR FROM __rows", rows)


def _number_duplicates(names: list[str]) -> list[str]:
    """Number duplicate names, so that all names differ when compared without case."""
    found: dict[str, str] = {}
    for name in names:
        candidates = (f"{name}_{number}" if number else name for number in count())
        chosen = next(one for one in candidates if folded(one) not in found)
        found[folded(chosen)] = chosen
    return list(found.values())


def _query_rows(query: str, rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a DuckDB query over the rows as `__rows`."""
    from forklake.engines.local.calculator import calculator

    with calculator() as cursor:
        cursor.register("__rows", rows)
        return cursor.execute(query).fetchall()


def _draw(result: FetchedResult, limit: int, seconds: float | None) -> None:
    from rich.text import Text

    console = make_console(sys.stdout)
    footer = []
    if result.is_done:
        footer = [result.kind]
    elif result.count is not None:
        footer = [result.kind, counted(result.count, "row")]
    else:
        found = draw_rows(result.rows.slice(0, limit), console.width)
        console.print(found)
        footer = _describe_count(result, limit, is_brief=not console.is_terminal)
        footer += _describe_columns(result.rows.num_columns, found)
    if seconds is not None and console.is_terminal:
        footer.append(duration(seconds))
    if footer:
        console.print(Text(" · ".join(footer), style="dim"), soft_wrap=True)


def _describe_count(result: FetchedResult, limit: int, *, is_brief: bool) -> list[str]:
    """Return the number of rows. If all are shown, a brief footer is empty."""
    total = result.rows.num_rows
    if total > limit:
        more = "more than " if result.is_cut else ""
        return [f"{counted(limit, 'row')} shown of {more}{total:,} (a higher limit shows more)"]
    return [] if is_brief else [counted(total, "row")]


def _describe_columns(count: int, table: Table) -> list[str]:
    """Return how many columns are shown, if not all of them."""
    shown = sum(column.header != _MORE for column in table.columns)
    return [] if shown == count else [f"{counted(count, 'column')} ({shown} shown)"]


def draw_rows(rows: pa.Table, width: int | None = None) -> Table:
    """Return rows as a table of a width: numbers to the right, and each row on one line.

    Long texts are cut. Columns that do not fit are left out, and a last column "…" shows that.
    """
    from rich import box
    from rich.table import Table

    cells = [list(map(_format_cell, row)) for row in format_rows(rows)]
    headers = list(map(_format_cell, rows.column_names))
    natural = [max(map(_cell_width, column)) for column in zip(headers, *cells, strict=True)]
    widths = fit_columns(natural, width)
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for header, kind, most in zip(headers, rows.schema.types, widths, strict=False):
        side: Any = "right" if _is_number(kind) else "left"
        found.add_column(header, justify=side, no_wrap=True, overflow="ellipsis", width=most)
    is_cut = len(widths) < len(headers)
    if is_cut:
        found.add_column(_MORE, width=1)
    for row in cells:
        found.add_row(*row[: len(widths)], *([_MORE] if is_cut else []))
    return found


def fit_columns(natural: Sequence[int], width: int | None) -> list[int]:
    """Return the widths of the columns that fit into `width`, given their natural widths.

    Each gets at least `_LEAST`, or all it would take; the rest is shared evenly.
    """
    if width is None:
        return list(natural)
    least = [min(one, _LEAST) for one in natural]
    if _total_width(least) > width:
        room = width - _GAP - 1  # without the column "…"
        fitting = [end for end in range(1, len(least)) if _total_width(least[:end]) <= room]
        least = least[: max(fitting, default=1)]
        width = max(room, 1)
    widths, spare = [min(one, width) for one in least], max(0, width - _total_width(least))
    waiting = sorted(range(len(widths)), key=lambda place: natural[place])
    for rank, place in enumerate(waiting):
        more = min(natural[place] - widths[place], spare // (len(waiting) - rank))
        widths[place] += more
        spare -= more
    return widths


def _total_width(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _cell_width(cell: Text) -> int:
    return max(1, *(line.cell_len for line in cell.split("\n", allow_blank=True)))


def _format_cell(text: str | None) -> Text:
    from rich.text import Text

    if text is None:
        return Text("NULL", style="dim")
    return Text("\n".join(map(escape, text.split("\n"))))


def _is_number(kind: Any) -> bool:
    return any(
        check(kind) for check in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    )
