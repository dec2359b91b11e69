"""Commands for Iceberg: publish tables for its readers."""

from __future__ import annotations

from typing import Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.errors import InvalidInput

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def iceberg() -> None:
    """Publish tables as Iceberg tables.

    Each command takes --json and the other global options of forklake.

    \b
    Example:
      forklake iceberg publish agent-1.orders /data/iceberg/orders
    """


@app.command()
@command
def publish(
    context: CommandContext,
    name: Annotated[
        str,
        typer.Argument(
            metavar="CATALOG.SCHEMA.TABLE",
            help="Name of the table. The schema defaults to main.",
            show_default=False,
        ),
    ],
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH",
            help="Root of the Iceberg table. Defaults to a folder beside the data files of the"
            " catalog.",
            show_default=False,
        ),
    ] = None,
    history: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of older snapshots to include.")
    ] = 10,
) -> None:
    """Publish a table as an Iceberg table over the same data files.

    Readers see the table as it is now. Run the command again after changes. Rows that are inlined
    in the metastore have to be flushed to files first.

    \b
    Examples:
      forklake iceberg publish sales.orders /data/iceberg/orders
      forklake iceberg publish agent-1.main.orders --history 0
    """
    from forklake.iceberg.publication import publish_table
    from forklake.session.names import split_name

    match split_name(name):
        case (catalog, schema, table_name):
            pass
        case (catalog, table_name):
            schema = "main"
        case _:
            raise InvalidInput(
                f"The name {name!r} is not the name of a table in a catalog.",
                remedy="Write CATALOG.TABLE or CATALOG.SCHEMA.TABLE.",
            )
    with context.open() as metastore:
        done = publish_table(metastore.catalog(catalog), table_name, schema, path, history=history)
    metadata = done.metadata
    document = {
        "location": done.location,
        "metadata_location": done.metadata_location,
        "snapshot": metadata.current_snapshot_id,
        "snapshots": [one.snapshot_id for one in metadata.snapshots],
    }
    message = f"Published {escape(name)}: {escape(done.metadata_location)}"
    context.output.show(document, lambda: [message])
