"""Command `forklake` with its subcommands, and the options that may precede them."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.accounts import app as account
from forklake.cli.automations import app as automations
from forklake.cli.context import (
    JsonOption,
    MetadataSchemaOption,
    MetastoreOption,
    ServerOption,
)
from forklake.cli.creation import create, fork, init
from forklake.cli.delta import app as delta
from forklake.cli.doctor import doctor
from forklake.cli.duckdb import duckdb
from forklake.cli.expose import expose
from forklake.cli.grants import app as access
from forklake.cli.iceberg import app as iceberg
from forklake.cli.import_ducklake import import_ducklake
from forklake.cli.inspection import snapshots, tables
from forklake.cli.lifecycle import drop, extend, materialize, rename
from forklake.cli.listings import catalogs, tree
from forklake.cli.merges import diff, merge
from forklake.cli.options import options
from forklake.cli.output import CommandOutput, escape_unencodable_text
from forklake.cli.run import run as run_command
from forklake.cli.serve import serve
from forklake.cli.shell.command import shell
from forklake.cli.sql import sql
from forklake.cli.tenants import tenants
from forklake.cli.upkeep import maintain, storage

# Help is plain text: rendering it with Rich would take longer than most commands.
app = typer.Typer(
    name="forklake",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for one in (
    init,
    create,
    fork,
    import_ducklake,
    drop,
    rename,
    extend,
    materialize,
    diff,
    merge,
    catalogs,
    tree,
    tables,
    snapshots,
    options,
    storage,
    maintain,
    doctor,
    sql,
    shell,
    duckdb,
    expose,
    serve,
):
    app.command()(one)
app.command("run")(run_command)
app.add_typer(delta, name="delta")
app.add_typer(iceberg, name="iceberg")
access.command()(tenants)
app.add_typer(access, name="access")
app.add_typer(account, name="account")
app.add_typer(automations, name="automations")


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        number = version("forklake")
        CommandOutput().show({"version": number}, lambda: [f"forklake {number}"])
        raise typer.Exit


@app.callback()
def forklake(
    metastore: MetastoreOption = None,
    server: ServerOption = None,
    metadata_schema: MetadataSchemaOption = None,
    as_json: JsonOption = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Manage a lakehouse whose catalogs can be forked in a millisecond.

    \b
    Examples:
      forklake init
      forklake create sales
      forklake fork sales agent --count 1000
      forklake tree
      forklake shell --catalog sales

    The global options below can also follow the command.
    """


def run() -> None:
    """Run the command line and exit."""
    escape_unencodable_text()
    app()


if __name__ == "__main__":
    run()
