"""Commands for accounts: in which stamp of a service each one is stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.cli.output import make_table
from forklake.cli.serve import read_service_settings
from forklake.model.figures import counted

if TYPE_CHECKING:
    from forklake.crucible.stamps import Stamps
    from forklake.store.stamps import Account

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
ConfigOption = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Settings of the service in TOML, including its stamps.",
        show_default=False,
    ),
]
NameArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="Name of an account.", show_default=False)
]


@app.callback()
def account() -> None:
    """Assign accounts to stamps, the metastores of a service.

    Each command takes --json and the other global options of forklake.

    \b
    Examples:
      forklake account list --config forklake.toml
      forklake account move acme east --config forklake.toml
    """


@contextmanager
def _open_stamps(context: CommandContext, config: str) -> Iterator[Stamps]:
    """Open the home metastore of a service and yield its stamps."""
    settings = read_service_settings(context, config)
    from forklake.catalog.metastore import open_metastore
    from forklake.crucible.stamps import Stamps

    with open_metastore(settings.metastore, metadata_schema=settings.metadata_schema) as home:
        stamps = Stamps(home, settings.stamps)
        try:
            yield stamps
        finally:
            stamps.close()


def _account_document(account: Account) -> dict[str, str | None]:
    return {
        "name": account.name,
        "stamp": account.stamp,
        "state": account.state.value,
        "other_stamp": account.other_stamp,
    }


@app.command("list")
@command
def list_accounts(context: CommandContext, config: ConfigOption) -> None:
    """List accounts and their stamps. Accounts that are not listed are in the home metastore.

    \b
    Example:
      forklake account list --config forklake.toml
    """
    with _open_stamps(context, config) as stamps:
        found, names = stamps.accounts(), stamps.names
    rows = [(one.name, one.stamp, one.state.value, one.other_stamp) for one in found]
    drawn = (
        make_table(("account", "stamp", "state", "other stamp"), rows) if rows else "No accounts."
    )
    document = {"accounts": [_account_document(one) for one in found], "stamps": list(names)}
    context.output.show(document, lambda: [drawn])


@app.command("add")
@command
def add_account(
    context: CommandContext,
    name: NameArgument,
    config: ConfigOption,
    stamp: Annotated[
        str | None,
        typer.Option(
            help="Stamp of the account. Defaults to the one with the fewest accounts.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Create an account.

    \b
    Example:
      forklake account add acme --config forklake.toml
    """
    with _open_stamps(context, config) as stamps:
        made = stamps.create_account(name, stamp)
    message = f"Account {escape(made.name)} is in stamp {escape(made.stamp)}."
    context.output.show({"account": _account_document(made)}, lambda: [message])


@app.command("move")
@command
def move_account(
    context: CommandContext,
    name: NameArgument,
    stamp: Annotated[str, typer.Argument(help="Stamp to move it to.", show_default=False)],
    config: ConfigOption,
) -> None:
    """Move an account with all its catalogs to another stamp.

    During the move the account can be read, but not changed. If the move is interrupted, run the
    command again.

    \b
    Example:
      forklake account move acme east --config forklake.toml
    """
    with _open_stamps(context, config) as stamps:
        from forklake.crucible.account_moves import move_account

        moved = move_account(stamps, name, stamp)
    counts = f"{counted(moved.catalogs, 'catalog')}, {counted(moved.rows, 'row')}"
    message = f"Account {escape(name)} is in stamp {escape(stamp)}: moved {counts}."
    document = {"name": name, "stamp": stamp, "catalogs": moved.catalogs, "rows": moved.rows}
    context.output.show(document, lambda: [message])
