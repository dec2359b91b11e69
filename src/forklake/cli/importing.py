"""The command that makes a catalog of somebody else's lake."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.creating import DataPathOption
from forklake.cli.formatting import visible
from forklake.cli.session import Session, command
from forklake.model.figures import counted


@command
def import_ducklake(
    session: Session,
    source: Annotated[
        str,
        typer.Argument(
            help="Where the DuckLake's metadata is: ducklake:<DuckDB file> or"
            " ducklake:postgres:<dsn>.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Name of the new catalog.", show_default=False),
    ],
    data_path: DataPathOption = None,
    source_data_path: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Where the DuckLake's files are, if moved.", show_default=False
        ),
    ] = None,
    source_schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Schema that holds the DuckLake's tables.", show_default=False
        ),
    ] = None,
) -> None:
    """Make a catalog of a DuckLake, and share its files.

    Its history comes along. Nothing is written to the DuckLake, and its files are never removed.

    \b
    Examples:
      forklake import-ducklake ducklake:shop.ducklake --as shop --data-path files
      forklake import-ducklake ducklake:postgres:dbname=lake --as shop
    """
    from forklake.maintenance.importing import import_ducklake as run

    with session.open() as metastore:
        done = run(
            metastore,
            source,
            name,
            data_path=data_path,
            source_data_path=source_data_path,
            metadata_schema=source_schema,
        )
    counts = {"snapshots": done.snapshots, "tables": done.tables, "files": done.files}
    told = ", ".join(counted(number, what.removesuffix("s")) for what, number in counts.items())
    document = {"catalog": done.catalog.name, **counts}
    said = f"Imported {visible(source)} as {visible(done.catalog.name)}: {told}."
    session.output.show(document, lambda: [said])
