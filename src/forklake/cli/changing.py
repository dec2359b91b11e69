"""Commands that change catalogs as a whole: drop, rename, materialize."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.formatting import counted, visible
from forklake.cli.session import Session, command
from forklake.errors import InvalidInput

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
    with session.open() as metastore:
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

    with session.open() as metastore:
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
    with session.open() as metastore:
        snapshot = metastore.materialize(name)
    said = f"Materialised {visible(name)} in snapshot {snapshot}."
    if snapshot is None:
        said = f"{visible(name)} stands on its own already."
    document = {"name": name, "materialized": snapshot is not None, "snapshot_id": snapshot}
    session.output.show(document, lambda: [said])
