"""Command that runs SQL from arguments, scripts or standard input."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklake.cli.connection import CatalogsOption, CreateOption, ReadOnlyOption, open_session
from forklake.cli.context import CommandContext, command
from forklake.cli.creation import DataPathOption
from forklake.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from forklake.cli.scripts import Script

_STANDARD_INPUT = "-"


class Dialect(Enum):
    """SQL dialects of statements."""

    DUCKDB = "duckdb"
    SPARK = "spark"


@command
def sql(
    context: CommandContext,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="SQL", help="Statements to run.", show_default=False),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            "-f",
            metavar="PATH",
            help="Run a script; - is standard input. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    catalogs: CatalogsOption = None,
    create: CreateOption = False,
    data_path: DataPathOption = None,
    read_only: ReadOnlyOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of rows to print. Tables default to 100.",
            show_default=False,
        ),
    ] = None,
    dialect: Annotated[Dialect, typer.Option(help="SQL dialect.")] = Dialect.DUCKDB,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="[NAME=]VALUE",
            help="Value of a parameter ? or $NAME, as JSON or else as text. Can be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run SQL from arguments, scripts or standard input.

    The first error ends the command. Each statement with rows prints one table, with --json one
    array of objects, with --csv one CSV table.

    \b
    Examples:
      forklake sql -c sales --create "CREATE TABLE orders (id INTEGER, amount DECIMAL(12,2))"
      forklake sql -c sales "SELECT sum(amount) FROM orders" --json
      forklake sql -c sales "SELECT * FROM orders WHERE id = ?" -p 42
      forklake sql -c sales -f script.sql
    """
    from forklake.cli.results import RowFormat, show_result
    from forklake.cli.statement_runner import StatementRunner

    row_format = (
        RowFormat.JSON if context.output.as_json else RowFormat.CSV if as_csv else RowFormat.TABLE
    )
    if as_csv and row_format is RowFormat.JSON:
        raise InvalidInput("Both --json and --csv are given.", remedy="Leave one of them out.")
    scripts = _read_scripts(texts or [], files or [], dialect.value)
    parameters = _parse_parameters(values or [])
    connection = open_session(
        context, catalogs, create=create, data_path=data_path, read_only=read_only
    )
    with connection, closing(StatementRunner(connection)) as runner:
        for script in scripts:
            for result, seconds in runner.run(script, parameters, row_format, limit):
                show_result(result, row_format, limit=limit, seconds=seconds)


def _read_scripts(texts: list[str], files: list[str], dialect: str) -> list[Script]:
    """Return the statements to run: the arguments, else the files, else standard input."""
    from forklake.cli.scripts import Script

    if texts and files:
        raise InvalidInput(
            "Both statements and files are given.",
            remedy="Pass either statements or --file.",
        )
    if texts:
        return [Script("\n;\n".join(texts), dialect)]
    if not files and sys.stdin.isatty():
        raise InvalidInput(
            "No statement was given.",
            remedy="Pass SQL as an argument, use --file PATH, or pipe a script in. For an"
            " interactive prompt, run forklake shell.",
        )
    return [Script(_read_text(file), dialect, file) for file in files or [_STANDARD_INPUT]]


def _read_text(file: str) -> str:
    if file == _STANDARD_INPUT:
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as reason:
        raise NotFound(
            f"The file {file!r} cannot be read: {reason.strerror}.",
            remedy="Pass a readable file.",
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"The file {file!r} is not a text in UTF-8.", remedy="Convert it to UTF-8."
        ) from None


def _parse_parameters(given: list[str]) -> list[Any] | dict[str, Any] | None:
    """Return parameters by position, or by name if all of them have one."""
    named = [one.partition("=") for one in given]
    if given and all(equals and name.isidentifier() for name, equals, _ in named):
        return {name: _parse_value(text) for name, _, text in named}
    return [_parse_value(one) for one in given] or None


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
