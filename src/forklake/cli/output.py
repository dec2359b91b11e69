"""The one place that prints: JSON documents, tables, trees, questions and errors.

Results go to stdout, everything else to stderr. Rich is loaded when something is drawn, which a
command with `--json` never does.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import visible
from forklake.errors import ForklakeError, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# A file or pipe has no edge at which text would have to wrap.
_NO_EDGE = 100_000
# The facts of an error that say where in a script it is.
_PLACE = ("source", "statement", "line")


class Output:
    """Where a command's results and errors go, and in which form."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def show(
        self, document: Mapping[str, Any], draw: Callable[[], Iterable[RenderableType]]
    ) -> None:
        """Show a result: the document as JSON, or what is drawn of it."""
        if self.as_json:
            # Escaped to ASCII: it reads the same whatever the encoding of the terminal is.
            print(json.dumps(document, indent=2), flush=True)
            return
        self.draw(draw())

    def draw(self, parts: Iterable[RenderableType]) -> None:
        """Draw lines, tables and trees; text is taken as it is."""
        console = console_for(sys.stdout)
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, str), markup=False)

    def error(self, error: ForklakeError) -> None:
        """Show an error and what to do about it, on stderr."""
        if self.as_json:
            found = {"code": error.code, "message": error.message, "remedy": error.remedy}
            found |= {name: error.details[name] for name in _PLACE if name in error.details}
            print(json.dumps({"error": found}), file=sys.stderr, flush=True)
            return
        self._labelled("error:", "bold red", error.message)
        if "statement" in error.details:
            self._labelled("at:", "bold", _place_of(error))
        if error.remedy:
            self._labelled("hint:", "bold cyan", error.remedy)

    def _labelled(self, label: str, style: str, message: str) -> None:
        from rich.text import Text

        # Lists are indented. Any other line break may be part of a name, which is shown escaped.
        text = "\n  ".join(map(visible, message.split("\n  ")))
        line = Text.assemble((label, style), " ", text)
        console_for(sys.stderr).print(line, soft_wrap=True)

    def confirm(self, question: str, *, otherwise: str) -> None:
        """Ask at the terminal, and go on only after a yes.

        Where nobody can answer, an error says what to do `otherwise`.
        """
        import typer

        if sys.stdin is None or not sys.stdin.isatty():
            raise InvalidInput(f"There is no terminal to ask: {question}", remedy=otherwise)
        print(f"{visible(question)} [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise typer.Abort


def _place_of(error: ForklakeError) -> str:
    """The statement of a script that an error is about."""
    facts = error.details
    source = f" of {facts['source']}" if "source" in facts else ""
    return f"statement {facts['statement']}, line {facts['line']}{source}"


def console_for(stream: Any) -> Console:
    """A console that keeps its form in pipes and files: no colours and no wrapping."""
    from rich.console import Console

    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _NO_EDGE
    return console


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Collection[str] = ()
) -> Table:
    """A table of plain values; columns of numbers are set to the right, and nothing is cut off."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        is_number = heading in numbers
        found.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        found.add_row(*(Text("" if cell is None else visible(str(cell))) for cell in row))
    return found


def heading(text: str) -> Text:
    """A line that stands out."""
    from rich.text import Text

    return Text(f"\n{text}", style="bold cyan")


def tolerate_any_text() -> None:
    """Let text that the streams' encoding lacks be escaped instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
