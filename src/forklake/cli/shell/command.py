"""Command that opens the shell."""

from __future__ import annotations

import sys
from contextlib import closing

import typer

from forklake.cli.connection import CatalogsOption, CreateOption, ReadOnlyOption, open_session
from forklake.cli.context import CommandContext, command
from forklake.cli.creation import DataPathOption


@command
def shell(
    context: CommandContext,
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
    from forklake.cli.results import RowFormat
    from forklake.cli.shell.input import PipedReader
    from forklake.cli.shell.shell import Shell

    row_format = RowFormat.JSON if context.output.as_json else RowFormat.TABLE
    connection = open_session(
        context, catalogs, create=create, data_path=data_path, read_only=read_only
    )
    with connection, closing(Shell(connection, row_format)) as shell:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from forklake.cli.shell.prompt import Prompt

            shell.greet()
            shell.read_from(Prompt(connection))
            shell.code = 0  # the user has already seen the errors
        else:
            shell.read_from(PipedReader(sys.stdin))
    if shell.code:
        raise typer.Exit(shell.code)
