"""Command that imports a DuckLake as a catalog."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.creation import DataPathOption
from forklake.cli.formatting import escape
from forklake.model.figures import counted


@command
def import_ducklake(
    context: CommandContext,
    source: Annotated[
        str,
        typer.Argument(
            help="Metadata of the DuckLake: ducklake:<DuckDB file> or ducklake:postgres:<dsn>.",
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
            metavar="PATH",
            help="Folder of the files of the DuckLake, if they were moved.",
            show_default=False,
        ),
    ] = None,
    source_schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Database schema with the metadata tables of the DuckLake.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Import a DuckLake as a new catalog that shares its files.

    The history is imported too. Nothing is written to the DuckLake, and its files are never
    deleted.

    \b
    Examples:
      forklake import-ducklake ducklake:shop.ducklake --as shop --data-path files
      forklake import-ducklake ducklake:postgres:dbname=lake --as shop
    """
    from forklake.maintenance.ducklake_import import import_ducklake as run

    with context.open() as metastore:
        done = run(
            metastore,
            source,
            name,
            data_path=data_path,
            source_data_path=source_data_path,
            metadata_schema=source_schema,
        )
    counts = {"snapshots": done.snapshots, "tables": done.tables, "files": done.files}
    summary = ", ".join(counted(number, what.removesuffix("s")) for what, number in counts.items())
    document = {"catalog": done.catalog.name, **counts}
    message = f"Imported {escape(source)} as {escape(done.catalog.name)}: {summary}."
    context.output.show(document, lambda: [message])
