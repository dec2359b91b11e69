"""Commands for storage: the sizes of catalogs, and maintenance that deletes unneeded files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import duration
from forklake.cli.output import make_table
from forklake.model.figures import counted, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.maintenance.due import OpenCompactions

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Names of catalogs.", show_default=False),
]


@command
def storage(
    context: CommandContext,
    names: NamesArgument = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="Maximum number of catalogs without NAME.")
    ] = 100,
) -> None:
    """Show the storage used by catalogs.

    Private bytes are of files that only this catalog reads, shared bytes of files that other
    catalogs read too. The last column is what dropping the catalog would free.

    \b
    Examples:
      forklake storage
      forklake storage sales agent-1
    """
    with context.connect() as metastore:
        chosen = names or [row.catalog_name for row in metastore.catalogs(limit=limit)]
        found = metastore.storage(chosen)

    def draw() -> Iterator[RenderableType]:
        rows = [
            (
                one.catalog_name,
                size(one.private_bytes),
                size(one.shared_bytes),
                size(one.freed_bytes),
            )
            for one in found
        ]
        sizes = ("private", "shared", "freed if dropped")
        yield make_table(("catalog", *sizes), rows, numbers=sizes) if rows else "No catalogs."

    document = {
        "catalogs": [
            {
                "name": one.catalog_name,
                "private_bytes": one.private_bytes,
                "shared_bytes": one.shared_bytes,
                "freed_bytes": one.freed_bytes,
            }
            for one in found
        ]
    }
    context.output.show(document, draw)


@command
def maintain(
    context: CommandContext,
    names: NamesArgument = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0, help="Start no new step after this time in seconds.", show_default=False
        ),
    ] = None,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Also compact data files and flush inlined rows, with Spark."
        ),
    ] = False,
) -> None:
    """Expire snapshots, delete files, reclaim dropped catalogs.

    Catalogs whose time to live has ended are dropped first. Options of the catalogs set the ages
    (see forklake options). The command can run in several processes at once.

    \b
    Examples:
      forklake maintain
      forklake maintain sales --compact --seconds 600
    """
    from forklake.maintenance.due import maintain as run

    with context.open() as metastore, ExitStack() as stack:
        compacting = _open_compaction(context, stack) if compact else None
        steps = list(run(metastore, names, seconds=seconds, open_compactions=compacting))

    def draw() -> Iterator[RenderableType]:
        rows = [
            (
                one.catalog,
                one.operation,
                f"{one.count:,} {one.unit}" if one.count else one.unit,
                duration(one.seconds),
            )
            for one in steps
        ]
        yield (
            make_table(("catalog", "operation", "done", "time"), rows)
            if rows
            else "Nothing is due."
        )
        yield f"{counted(len(rows), 'step')}."

    document = {
        "steps": [
            {
                "catalog": one.catalog,
                "operation": one.operation,
                "count": one.count,
                "unit": one.unit,
                "seconds": one.seconds,
            }
            for one in steps
        ]
    }
    context.output.show(document, draw)


def _open_compaction(context: CommandContext, stack: ExitStack) -> OpenCompactions:
    import forklake
    from forklake.maintenance.due import open_compactions_in

    spark = stack.enter_context(forklake.connect())
    return open_compactions_in(spark, context.uri, context.metadata_schema)
