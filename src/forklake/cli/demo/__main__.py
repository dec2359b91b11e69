"""Command that runs the demo in a temporary folder, or in one that is kept."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from forklake.cli.demo.console import DemoConsole
from forklake.cli.demo.tour import Tour
from forklake.cli.output import CommandOutput, escape_unencodable_text
from forklake.cli.statement_runner import CommandSession
from forklake.errors import AlreadyExists, ForklakeError, outcome

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=1_000, help="Number of orders to create.")] = 2_000_000,
    forks: Annotated[
        int, typer.Option(min=0, help="Number of forks to create in one call.")
    ] = 10_000,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Create the lake in a new folder and keep it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Demonstrate forks on the lake of a shop."""
    output = CommandOutput()
    try:
        with _open_folder(keep) as folder, CommandSession() as session:
            tour = Tour(DemoConsole(session, output), folder, rows=rows, forks=forks)
            tour.run()
            output.draw(suggest_commands(tour.uri if keep else None))
    except ForklakeError as error:
        output.error(error)
        raise typer.Exit(outcome(error)[1]) from None


@contextmanager
def _open_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        if keep.exists():
            raise AlreadyExists(
                f"The folder {str(keep)!r} already exists.",
                remedy="Pass a new folder to --keep.",
            )
        keep.mkdir(parents=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="forklake-demo-") as folder:
        yield Path(folder)


def suggest_commands(uri: str | None) -> list[str]:
    """Return commands that can be pasted as they are, for the lake at `uri` or for a new lake."""
    program = "forklake"
    if shutil.which(program) is None:
        program = os.path.relpath(Path(sys.executable).with_name(program))
    commands = _ON_A_NEW_LAKE if uri is None else _ON_THE_LAKE
    address = "" if uri is None else f" -m {shlex.quote(uri)}"
    return ["", "What to try next", *(f"  {program}{address} {command}" for command in commands)]


_ON_A_NEW_LAKE = (
    'sql -c shop --create "CREATE TABLE pets (name VARCHAR, age INTEGER)"',
    "sql -c shop \"INSERT INTO pets VALUES ('Bella', 3), ('Max', 5)\"",
    "fork shop experiment",
    'sql -c experiment "DELETE FROM pets WHERE age > 4"',
    'sql -c experiment -c shop "SELECT * FROM pets UNION ALL SELECT * FROM shop.pets"',
    "shell -c experiment",
)
_ON_THE_LAKE = (
    "tables shop",
    "fork shop experiment",
    'sql -c experiment "SELECT status, count(*) FROM orders GROUP BY ALL"',
    "tree",
    "shell -c experiment",
)

if __name__ == "__main__":
    escape_unencodable_text()
    app()
