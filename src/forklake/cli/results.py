"""How the answers to statements look: as tables, JSON or CSV.

DuckDB turns values into text and JSON, so that all types look as its SQL writes them.
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

from forklake.cli.formatting import duration, quoted, visible
from forklake.cli.output import console_for
from forklake.model.figures import counted
from forklake.model.names import folded

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from forklake.sql.results import Result

SHOWN = 100
_MORE = "…"
# The least width of a column, unless it needs less, and the spaces between two.
_LEAST, _GAP = 12, 3
# So many rows are fetched to tell how many there are besides those that a table shows.
_COUNTED = 10_000


class Form(Enum):
    """The forms of rows."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer, here; `is_cut` if there are more of them."""

    kind: str
    rows: pa.Table
    is_cut: bool = False

    @property
    def is_done(self) -> bool:
        """Whether it says no more than that the statement was run."""
        return bool(self.rows.column_names == ["status"] and self.kind != "SELECT")

    @property
    def count(self) -> int | None:
        """How many rows were changed, if that is all it says."""
        if self.rows.column_names != ["Count"] or self.kind == "SELECT":
            return None
        return int(self.rows["Count"][0].as_py())


def fetched(result: Result, form: Form, limit: int | None) -> Answer:
    """The rows that are to be shown; the jobs of Spark for them run now."""
    if result.is_local:
        return Answer(result.kind, result.data)
    from forklake.spark.engine.progress import progress
    from forklake.sql.results import Result

    most = limit if form is not Form.TABLE else max(limit or SHOWN, _COUNTED)
    data: Any = result.data
    wanted = result if most is None else Result(result.kind, data.limit(most + 1))
    with progress("Running"):
        rows = wanted.arrow()
    is_cut = most is not None and rows.num_rows > most
    return Answer(result.kind, rows.slice(0, most) if is_cut else rows, is_cut)


def show(answer: Answer, form: Form, *, limit: int | None, seconds: float | None) -> None:
    """Print an answer, and on a terminal how long it took.

    Where machines read, a statement that has only been done says nothing.
    """
    if form is Form.TABLE:
        _draw(answer, limit or SHOWN, seconds)
    elif not answer.is_done:
        rows = answer.rows.slice(0, limit)
        sys.stdout.writelines(json_lines(rows) if form is Form.JSON else csv_lines(rows))
        sys.stdout.flush()


def json_lines(rows: pa.Table) -> Iterator[str]:
    """The rows as one array of objects, each on a line of its own."""
    rows = rows.rename_columns(_distinct(rows.column_names))
    # Neither infinity nor what is not a number can be said in JSON.
    finite = ", ".join(
        f"CASE WHEN isfinite({quoted(name)}) THEN {quoted(name)} END AS {quoted(name)}"
        for name, kind in zip(rows.column_names, rows.schema.types, strict=True)
        if pa.types.is_floating(kind)
    )
    replaced = f"REPLACE ({finite})" if finite else ""
    query = f"SELECT to_json(__row) FROM (SELECT * {replaced} FROM __rows) AS __row"
    lead = "["
    for (text,) in _in_duckdb(query, rows):
        yield lead + _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
        lead = ",\n "
    yield "]\n" if lead != "[" else "[]\n"


# Escaped, it reads the same whatever the encoding of the terminal is.
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def csv_lines(rows: pa.Table) -> Iterator[str]:
    """The rows as RFC 4180 has them, under their names; NULL is empty, an empty text is quoted."""
    for row in (rows.column_names, *texts(rows)):
        yield ",".join(map(_csv_field, row)) + "\r\n"


def _csv_field(text: str | None) -> str:
    if text is None:
        return ""
    if text == "" or any(one in text for one in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def texts(rows: pa.Table) -> list[tuple[str | None, ...]]:
    """The values of rows as texts."""
    rows = rows.rename_columns(_distinct(rows.column_names))
    return _in_duckdb("SELECT COLUMNS(*)::VARCHAR FROM __rows", rows)


def _distinct(names: list[str]) -> list[str]:
    """Names of which no two are the same, whatever their case."""
    found: dict[str, str] = {}
    for name in names:
        candidates = (f"{name}_{number}" if number else name for number in count())
        chosen = next(one for one in candidates if folded(one) not in found)
        found[folded(chosen)] = chosen
    return list(found.values())


def _in_duckdb(query: str, rows: pa.Table) -> list[tuple[Any, ...]]:
    """What DuckDB answers to a query over `__rows`."""
    from forklake.spark.calculator import calculator

    with calculator() as cursor:
        cursor.register("__rows", rows)
        return cursor.execute(query).fetchall()


def _draw(answer: Answer, limit: int, seconds: float | None) -> None:
    from rich.text import Text

    console = console_for(sys.stdout)
    said = []
    if answer.is_done:
        said = [answer.kind]
    elif answer.count is not None:
        said = [answer.kind, counted(answer.count, "row")]
    else:
        found = drawn(answer.rows.slice(0, limit), console.width)
        console.print(found)
        said = _footer(answer, limit, is_brief=not console.is_terminal)
        said += _columns_footer(answer.rows.num_columns, found)
    if seconds is not None and console.is_terminal:
        said.append(duration(seconds))
    if said:
        console.print(Text(" · ".join(said), style="dim"), soft_wrap=True)


def _footer(answer: Answer, limit: int, *, is_brief: bool) -> list[str]:
    """How many rows there are; briefly, how many are not shown."""
    total = answer.rows.num_rows
    if total > limit:
        more = "more than " if answer.is_cut else ""
        return [f"… {more}{counted(total - limit, 'more row')}"]
    return [] if is_brief else [counted(total, "row")]


def _columns_footer(count: int, table: Table) -> list[str]:
    """Return how many columns are shown, if not all of them."""
    shown = sum(column.header != _MORE for column in table.columns)
    return [] if shown == count else [f"{counted(count, 'column')} ({shown} shown)"]


def drawn(rows: pa.Table, width: int | None = None) -> Table:
    """Return rows as a table of a width: numbers to the right, and each row on one line.

    Long texts are cut. Columns for which there is no place are left out; a last one shows that.
    """
    from rich import box
    from rich.table import Table

    cells = [list(map(_cell, row)) for row in texts(rows)]
    headers = list(map(_cell, rows.column_names))
    natural = [max(map(_width, column)) for column in zip(headers, *cells, strict=True)]
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
    """Return the widths of the columns that fit side by side, given those that they would take.

    Each gets at least `_LEAST`, or all it would take; the rest is shared evenly.
    """
    if width is None:
        return list(natural)
    least = [min(one, _LEAST) for one in natural]
    if _total(least) > width:
        room = width - _GAP - 1  # for the column that shows that there are more
        fitting = [end for end in range(1, len(least)) if _total(least[:end]) <= room]
        least = least[: max(fitting, default=1)]
        width = max(room, 1)
    widths, spare = [min(one, width) for one in least], max(0, width - _total(least))
    waiting = sorted(range(len(widths)), key=lambda place: natural[place])
    for rank, place in enumerate(waiting):
        more = min(natural[place] - widths[place], spare // (len(waiting) - rank))
        widths[place] += more
        spare -= more
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _width(cell: Text) -> int:
    return max(1, *(line.cell_len for line in cell.split("\n", allow_blank=True)))


def _cell(text: str | None) -> Text:
    from rich.text import Text

    if text is None:
        return Text("NULL", style="dim")
    return Text("\n".join(map(visible, text.split("\n"))))


def _is_number(kind: Any) -> bool:
    return any(
        check(kind) for check in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    )
