"""Display of the demo: statements, their results and how long they took."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from forklake.cli.formatting import duration
from forklake.cli.output import CommandOutput, make_heading, make_table
from forklake.cli.results import RowFormat, draw_rows, fetch_result
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from forklake.sql.session import Session

_SHOWN = 12


class DemoConsole:
    """Session of the demo, with methods that run statements and print them."""

    def __init__(self, session: Session, output: CommandOutput) -> None:
        self.session = session
        self._output = output

    def print(self, *parts: RenderableType) -> None:
        """Print lines of text or other renderables."""
        self._output.draw(parts)

    def print_title(self, title: str) -> None:
        """Print the title of an act."""
        self.print(make_heading(title))

    def print_table(
        self, headings: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[str]
    ) -> None:
        """Print a table."""
        self.print(make_table(headings, rows, numbers=numbers))

    def run_statements(self, *statements: str) -> None:
        """Run statements; print each one and its result."""
        for text in statements:
            self.print(highlight_statement(text))
            self.run_statement(text)

    def run_statement(self, text: str) -> pa.Table:
        """Run a statement, print its result, and return the rows."""
        began = time.perf_counter()
        result = fetch_result(self.session.execute(text), RowFormat.TABLE, _SHOWN)
        note = duration(time.perf_counter() - began)
        if result.count is not None:
            note = f"{counted(result.count, 'row')}, {note}"
        elif not result.is_done:
            self.print(draw_rows(result.rows.slice(0, _SHOWN)))
        self.print(_dim_text(f"  {note}"))
        return result.rows

    def time_statement(self, text: str) -> float:
        """Run a short statement, print it with its duration, and return the seconds."""
        began = time.perf_counter()
        self.session.execute(text)
        took = time.perf_counter() - began
        self.print(highlight_statement(text).append_text(_dim_text(f"  {duration(took)}")))
        return took


def highlight_statement(text: str) -> Text:
    """Return a statement with syntax highlighting."""
    from rich.syntax import Syntax

    colours = Syntax("", "sql", theme="ansi_dark", background_color="default")
    found = colours.highlight(textwrap.indent(textwrap.dedent(text).strip(), "  "))
    found.rstrip()
    return found


def _dim_text(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="dim")
