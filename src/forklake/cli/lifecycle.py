"""Commands that change whole catalogs: drop, rename, materialize, extend."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape, iso_time
from forklake.errors import InvalidInput
from forklake.model.figures import counted
from forklake.model.options import as_age

NameArgument = Annotated[str, typer.Argument(help="Name of the catalog.", show_default=False)]


@command
def drop(
    context: CommandContext,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of the catalogs.", show_default=False),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Drop all catalogs whose names begin with TEXT.",
            show_default=False,
        ),
    ] = None,
    if_exists: Annotated[
        bool, typer.Option("--if-exists", help="Ignore catalogs that do not exist.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Drop --prefix without confirmation.")
    ] = False,
) -> None:
    """Drop catalogs. Their forks are not affected.

    \b
    Examples:
      forklake drop experiment
      forklake drop --prefix agent- --yes
    """
    if bool(names) == (prefix is not None) or prefix == "":
        raise InvalidInput(
            "Either names of catalogs or a non-empty prefix of names must be given.",
            remedy="Pass names of catalogs, or --prefix TEXT, but not both.",
        )
    with context.connect() as metastore:
        chosen = names or []
        if prefix is not None:
            chosen = [row.catalog_name for row in metastore.all_catalogs(prefix=prefix)]
            if_exists = True  # a concurrent drop of one of them is not an error
            if chosen and not yes:
                context.output.confirm(
                    f"Drop {counted(len(chosen), 'catalog')} whose names begin with {prefix!r}?",
                    otherwise="Add --yes to drop them without confirmation.",
                )
        count = metastore.drop_catalogs(chosen, if_exists=if_exists)
    context.output.show({"dropped": count}, lambda: [f"Dropped {counted(count, 'catalog')}."])


@command
def rename(
    context: CommandContext,
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="New name.", show_default=False)],
) -> None:
    """Rename a catalog. Its contents and forks do not change.

    \b
    Example:
      forklake rename experiment sales-2
    """
    from forklake.cli.documents import catalog_document

    with context.connect() as metastore:
        row = metastore.rename_catalog(name, new_name).row
    message = f"Renamed {escape(name)} to {escape(row.catalog_name)}."
    context.output.show({"catalog": catalog_document(row)}, lambda: [message])


@command
def materialize(context: CommandContext, name: NameArgument) -> None:
    """Copy the metadata that a fork inherits into the fork.

    The fork then reads no rows of its ancestors. Its contents do not change, and its data files
    are still shared.

    \b
    Example:
      forklake materialize experiment
    """
    with context.connect() as metastore:
        snapshot = metastore.materialize(name)
    message = f"Materialized {escape(name)} in snapshot {snapshot}."
    if snapshot is None:
        message = f"{escape(name)} inherits no rows: nothing was materialized."
    document = {"name": name, "materialized": snapshot is not None, "snapshot_id": snapshot}
    context.output.show(document, lambda: [message])


@command
def extend(
    context: CommandContext,
    name: NameArgument,
    ttl: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="New time to live from now on, such as 2h or '7 days'. Without it, the catalog"
            " never expires.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Extend or remove the expiry of a catalog.

    \b
    Examples:
      forklake extend experiment --ttl '7 days'
      forklake extend experiment
    """
    with context.connect() as metastore:
        until = metastore.catalog(name).extend(None if ttl is None else as_age(ttl))
    shown = None if until is None else iso_time(until)
    message = f"{escape(name)} {'never expires' if shown is None else f'expires at {shown}'}."
    context.output.show({"name": name, "expires_at": shown}, lambda: [message])
