"""Display of the demo: statements, their results and how long they took."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from forklake.cli.formatting import duration
from forklake.cli.output import Output, heading, table
from forklake.cli.results import Form, drawn, fetched
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from forklake.sql.session import Session

_SHOWN = 12


class Stage:
    """Session of the demo, with methods that run statements and print them."""

    def __init__(self, session: Session, output: Output) -> None:
        self.session = session
        self._output = output

    def say(self, *parts: RenderableType) -> None:
        """Print lines of text or other renderables."""
        self._output.draw(parts)

    def act(self, title: str) -> None:
        """Print the title of an act."""
        self.say(heading(title))

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[str]
    ) -> None:
        """Print a table."""
        self.say(table(headings, rows, numbers=numbers))

    def play(self, *statements: str) -> None:
        """Run statements; print each one and its result."""
        for text in statements:
            self.say(shown(text))
            self.answer(text)

    def answer(self, text: str) -> pa.Table:
        """Run a statement, print its result, and return the rows."""
        began = time.perf_counter()
        answer = fetched(self.session.execute(text), Form.TABLE, _SHOWN)
        note = duration(time.perf_counter() - began)
        if answer.count is not None:
            note = f"{counted(answer.count, 'row')}, {note}"
        elif not answer.is_done:
            self.say(drawn(answer.rows.slice(0, _SHOWN)))
        self.say(_note(f"  {note}"))
        return answer.rows

    def time(self, text: str) -> float:
        """Run a short statement, print it with its duration, and return the seconds."""
        began = time.perf_counter()
        self.session.execute(text)
        took = time.perf_counter() - began
        self.say(shown(text).append_text(_note(f"  {duration(took)}")))
        return took


def shown(text: str) -> Text:
    """Return a statement with syntax highlighting."""
    from rich.syntax import Syntax

    colours = Syntax("", "sql", theme="ansi_dark", background_color="default")
    found = colours.highlight(textwrap.indent(textwrap.dedent(text).strip(), "  "))
    found.rstrip()
    return found


def _note(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="dim")
