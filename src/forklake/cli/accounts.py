"""Commands about accounts: in which metastore each lives, where a service has several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import visible
from forklake.cli.output import table
from forklake.cli.serve import settings_of
from forklake.cli.session import Session, command
from forklake.model.figures import counted

if TYPE_CHECKING:
    from forklake.crucible.stamps import Stamps
    from forklake.store.stamps import Account

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
ConfigOption = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Settings of the service in TOML, with its stamps.",
        show_default=False,
    ),
]
NameArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="Name of an account.", show_default=False)
]


@app.callback()
def account() -> None:
    """Say in which stamp, that is metastore, accounts live.

    Each command takes --json and the other options of forklake.

    \b
    Examples:
      forklake account list --config forklake.toml
      forklake account move acme east --config forklake.toml
    """


@contextmanager
def _stamps(session: Session, config: str) -> Iterator[Stamps]:
    """The stamps of a service."""
    settings = settings_of(session, config)
    from forklake.catalog.metastore import open_metastore
    from forklake.crucible.stamps import Stamps

    with open_metastore(settings.metastore, metadata_schema=settings.metadata_schema) as home:
        stamps = Stamps(home, settings.stamps)
        try:
            yield stamps
        finally:
            stamps.close()


def _document(account: Account) -> dict[str, str | None]:
    return {
        "name": account.name,
        "stamp": account.stamp,
        "state": account.state.value,
        "other_stamp": account.other_stamp,
    }


@app.command("list")
@command
def list_accounts(session: Session, config: ConfigOption) -> None:
    """List accounts and their stamps; those that are not listed live in the home metastore.

    \b
    Example:
      forklake account list --config forklake.toml
    """
    with _stamps(session, config) as stamps:
        found, names = stamps.accounts(), stamps.names
    rows = [(one.name, one.stamp, one.state.value, one.other_stamp) for one in found]
    drawn = table(("account", "stamp", "state", "other stamp"), rows) if rows else "No accounts."
    document = {"accounts": [_document(one) for one in found], "stamps": list(names)}
    session.output.show(document, lambda: [drawn])


@app.command("add")
@command
def add_account(
    session: Session,
    name: NameArgument,
    config: ConfigOption,
    stamp: Annotated[
        str | None,
        typer.Option(help="Where it lives; else where the fewest do.", show_default=False),
    ] = None,
) -> None:
    """Make an account.

    \b
    Example:
      forklake account add acme --config forklake.toml
    """
    with _stamps(session, config) as stamps:
        made = stamps.create_account(name, stamp)
    said = f"Account {visible(made.name)} lives in {visible(made.stamp)}."
    session.output.show({"account": _document(made)}, lambda: [said])


@app.command("move")
@command
def move_account(
    session: Session,
    name: NameArgument,
    stamp: Annotated[str, typer.Argument(help="Where it goes.", show_default=False)],
    config: ConfigOption,
) -> None:
    """Move an account with all its catalogs to another stamp.

    It is read as always and written to by nobody meanwhile. What was cut short, run again.

    \b
    Example:
      forklake account move acme east --config forklake.toml
    """
    with _stamps(session, config) as stamps:
        from forklake.crucible.moving import move

        moved = move(stamps, name, stamp)
    counts = f"{counted(moved.catalogs, 'catalog')}, {counted(moved.rows, 'row')}"
    said = f"Account {visible(name)} lives in {visible(stamp)}: moved {counts}."
    document = {"name": name, "stamp": stamp, "catalogs": moved.catalogs, "rows": moved.rows}
    session.output.show(document, lambda: [said])
