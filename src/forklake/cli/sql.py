"""The command that runs SQL: statements given, scripts, or what is piped in."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklake.cli.connecting import CatalogsOption, CreateOption, ReadOnlyOption, connected
from forklake.cli.creating import DataPathOption
from forklake.cli.session import Session, command
from forklake.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from forklake.cli.scripts import Script

_STANDARD_INPUT = "-"


class Dialect(Enum):
    """The kinds of SQL."""

    DUCKDB = "duckdb"
    SPARK = "spark"


@command
def sql(
    session: Session,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="SQL", help="Statements to run.", show_default=False),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", "-f", metavar="PATH", help="Run a script; - is the input.", show_default=False
        ),
    ] = None,
    catalogs: CatalogsOption = None,
    create: CreateOption = False,
    data_path: DataPathOption = None,
    read_only: ReadOnlyOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Most rows to print; of tables, 100.", show_default=False),
    ] = None,
    dialect: Annotated[Dialect, typer.Option(help="The kind of SQL.")] = Dialect.DUCKDB,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="[NAME=]VALUE",
            help="A value for ? or $NAME: as JSON has it, else a text.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run SQL: statements, scripts, or what is piped in.

    It stops at the first error. With --json each statement that has rows to show prints one array
    of objects, with --csv one table.

    \b
    Examples:
      forklake sql -c sales --create "CREATE TABLE orders (id INTEGER, amount DECIMAL(12,2))"
      forklake sql -c sales "SELECT sum(amount) FROM orders" --json
      forklake sql -c sales "SELECT * FROM orders WHERE id = ?" -p 42
      forklake sql -c sales -f script.sql
    """
    from forklake.cli.results import Form, show
    from forklake.cli.running import Runner

    form = Form.JSON if session.output.as_json else Form.CSV if as_csv else Form.TABLE
    if as_csv and form is Form.JSON:
        raise InvalidInput("Rows are printed as JSON or as CSV.", remedy="Leave one of them out.")
    scripts = _scripts(texts or [], files or [], dialect.value)
    parameters = _parameters(values or [])
    connection = connected(
        session, catalogs, create=create, data_path=data_path, read_only=read_only
    )
    with connection, closing(Runner(connection)) as runner:
        for script in scripts:
            for answer, seconds in runner.run(script, parameters, form, limit):
                show(answer, form, limit=limit, seconds=seconds)


def _scripts(texts: list[str], files: list[str], dialect: str) -> list[Script]:
    """What is to run: the statements given, else the files, else the input that is piped in."""
    from forklake.cli.scripts import Script

    if texts and files:
        raise InvalidInput(
            "There are both statements and files to run.", remedy="Give only one kind."
        )
    if texts:
        return [Script("\n;\n".join(texts), dialect)]
    if not files and sys.stdin.isatty():
        raise InvalidInput(
            "There is no statement to run.",
            remedy="Give one, or --file, or pipe a script in; forklake shell reads what you type.",
        )
    return [Script(_content(file), dialect, file) for file in files or [_STANDARD_INPUT]]


def _content(file: str) -> str:
    if file == _STANDARD_INPUT:
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as reason:
        raise NotFound(
            f"The file {file!r} cannot be read: {reason.strerror}.", remedy="Name another one."
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"The file {file!r} is no text in UTF-8.", remedy="Convert it."
        ) from None


def _parameters(given: list[str]) -> list[Any] | dict[str, Any] | None:
    """Values in their order, or by name if all have one."""
    named = [one.partition("=") for one in given]
    if given and all(equals and name.isidentifier() for name, equals, _ in named):
        return {name: _value(text) for name, _, text in named}
    return [_value(one) for one in given] or None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
