"""Commands that change catalogs as a whole: drop, rename, materialize, extend."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.formatting import iso_time, visible
from forklake.cli.session import Session, command
from forklake.errors import InvalidInput
from forklake.model.figures import counted
from forklake.model.options import as_age

NameArgument = Annotated[str, typer.Argument(help="Name of the catalog.", show_default=False)]


@command
def drop(
    session: Session,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of the catalogs.", show_default=False),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Drop all catalogs whose names begin with it.", show_default=False
        ),
    ] = None,
    if_exists: Annotated[
        bool, typer.Option("--if-exists", help="Pass over catalogs that are not there.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Drop a prefix without asking.")] = False,
) -> None:
    """Drop catalogs; their forks live on.

    \b
    Examples:
      forklake drop experiment
      forklake drop --prefix agent- --yes
    """
    if bool(names) == (prefix is not None) or prefix == "":
        raise InvalidInput(
            "Catalogs are dropped by name, or else by a prefix that is not empty.",
            remedy="Give names, or --prefix.",
        )
    with session.reach() as metastore:
        wanted = names or []
        if prefix is not None:
            wanted = [row.catalog_name for row in metastore.all_catalogs(prefix=prefix)]
            if_exists = True  # one that is gone by now needs no dropping
            if wanted and not yes:
                session.output.confirm(
                    f"Drop {counted(len(wanted), 'catalog')} whose names begin with {prefix!r}?",
                    otherwise="Add --yes.",
                )
        count = metastore.drop_catalogs(wanted, if_exists=if_exists)
    session.output.show({"dropped": count}, lambda: [f"Dropped {counted(count, 'catalog')}."])


@command
def rename(
    session: Session,
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="Its new name.", show_default=False)],
) -> None:
    """Rename a catalog; its contents and forks stay.

    \b
    Example:
      forklake rename experiment sales-2
    """
    from forklake.cli.documents import catalog_document

    with session.reach() as metastore:
        row = metastore.rename_catalog(name, new_name).row
    said = f"Renamed {visible(name)} to {visible(row.catalog_name)}."
    session.output.show({"catalog": catalog_document(row)}, lambda: [said])


@command
def materialize(session: Session, name: NameArgument) -> None:
    """Give a fork rows of its own.

    It no longer reads those of its ancestors, and reads as before.

    \b
    Example:
      forklake materialize experiment
    """
    with session.reach() as metastore:
        snapshot = metastore.materialize(name)
    said = f"Materialised {visible(name)} in snapshot {snapshot}."
    if snapshot is None:
        said = f"{visible(name)} stands on its own already."
    document = {"name": name, "materialized": snapshot is not None, "snapshot_id": snapshot}
    session.output.show(document, lambda: [said])


@command
def extend(
    session: Session,
    name: NameArgument,
    ttl: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From now on, such as 2h; for good without it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Let a catalog live longer, or for good.

    \b
    Examples:
      forklake extend experiment --ttl '7 days'
      forklake extend experiment
    """
    with session.reach() as metastore:
        until = metastore.catalog(name).extend(None if ttl is None else as_age(ttl))
    shown = None if until is None else iso_time(until)
    said = f"{visible(name)} lives {'on' if shown is None else f'until {shown}'}."
    session.output.show({"name": name, "expires_at": shown}, lambda: [said])
