"""Printer of everything that commands show: JSON documents, tables, trees, prompts and errors.

Results go to stdout, everything else to stderr. Rich is imported only when something is drawn, so
commands with `--json` start faster.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forklake.cli.formatting import escape
from forklake.errors import ForklakeError, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# Files and pipes have no width at which text would have to wrap.
_NO_EDGE = 100_000
# Details of an error that locate it in a script.
_POSITION = ("source", "statement", "line")


class CommandOutput:
    """Output of a command: results and errors, as text or as JSON."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def show(
        self, document: Mapping[str, Any], draw: Callable[[], Iterable[RenderableType]]
    ) -> None:
        """Show a result: `document` as JSON, or else what `draw` returns."""
        if self.as_json:
            # ASCII only, so that the encoding of the terminal does not matter.
            print(json.dumps(document, indent=2), flush=True)
            return
        self.draw(draw())

    def draw(self, parts: Iterable[RenderableType]) -> None:
        """Draw lines, tables and trees. Markup in text is not interpreted."""
        console = make_console(sys.stdout)
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, str), markup=False)

    def error(self, error: ForklakeError) -> None:
        """Show an error and its remedy on stderr."""
        if self.as_json:
            found = {"code": error.code, "message": error.message, "remedy": error.remedy}
            found |= {name: error.details[name] for name in _POSITION if name in error.details}
            print(json.dumps({"error": found}), file=sys.stderr, flush=True)
            return
        self._print_labelled("error:", "bold red", error.message)
        if "statement" in error.details:
            self._print_labelled("at:", "bold", _describe_position(error))
        if error.remedy:
            self._print_labelled("hint:", "bold cyan", error.remedy)

    def _print_labelled(self, label: str, style: str, message: str) -> None:
        from rich.text import Text

        # Lists in messages are indented. Other line breaks may be part of a name: escape them.
        text = "\n  ".join(map(escape, message.split("\n  ")))
        line = Text.assemble((label, style), " ", text)
        make_console(sys.stderr).print(line, soft_wrap=True)

    def confirm(self, question: str, *, otherwise: str) -> None:
        """Request confirmation at the terminal; abort unless the answer is yes.

        Without a terminal, raise an error with the remedy `otherwise`.
        """
        import typer

        if sys.stdin is None or not sys.stdin.isatty():
            raise InvalidInput(
                f"This needs confirmation at a terminal: {question}", remedy=otherwise
            )
        print(f"{escape(question)} [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise typer.Abort


def _describe_position(error: ForklakeError) -> str:
    """Describe the statement of a script in which an error occurred."""
    facts = error.details
    source = f" of {facts['source']}" if "source" in facts else ""
    return f"statement {facts['statement']}, line {facts['line']}{source}"


def make_console(stream: Any) -> Console:
    """Return a console for a stream. Output to pipes and files has no colors and is not wrapped."""
    from rich.console import Console

    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _NO_EDGE
    return console


def make_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Collection[str] = ()
) -> Table:
    """Return a table of plain values. Columns in `numbers` are right-aligned; nothing is cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        is_number = heading in numbers
        found.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        found.add_row(*(Text("" if cell is None else escape(str(cell))) for cell in row))
    return found


def make_heading(text: str) -> Text:
    """Return a text styled as a heading."""
    from rich.text import Text

    return Text(f"\n{text}", style="bold cyan")


def escape_unencodable_text() -> None:
    """Escape characters that stdout or stderr cannot encode, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
