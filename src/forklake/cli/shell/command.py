"""Command that opens the shell."""

from __future__ import annotations

import sys
from contextlib import closing

import typer

from forklake.cli.connection import CatalogsOption, CreateOption, ReadOnlyOption, connected
from forklake.cli.creation import DataPathOption
from forklake.cli.session import Session, command


@command
def shell(
    session: Session,
    catalogs: CatalogsOption = None,
    create: CreateOption = False,
    data_path: DataPathOption = None,
    read_only: ReadOnlyOption = False,
) -> None:
    """Open an interactive prompt for SQL.

    Statements end with a semicolon; .help lists the commands of the shell. Without a terminal,
    statements are read from standard input.

    \b
    Examples:
      forklake shell
      forklake shell --catalog sales --create
    """
    from forklake.cli.results import Form
    from forklake.cli.shell.input import PipedReader
    from forklake.cli.shell.shell import Shell

    form = Form.JSON if session.output.as_json else Form.TABLE
    connection = connected(
        session, catalogs, create=create, data_path=data_path, read_only=read_only
    )
    with connection, closing(Shell(connection, form)) as opened:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from forklake.cli.shell.prompt import Prompt

            opened.greet()
            opened.read_from(Prompt(connection))
            opened.code = 0  # the user has already seen the errors
        else:
            opened.read_from(PipedReader(sys.stdin))
    if opened.code:
        raise typer.Exit(opened.code)
