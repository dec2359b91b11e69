"""Commands about files: what they take, and the maintenance that removes those nobody needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import duration
from forklake.cli.output import table
from forklake.cli.session import Session, command
from forklake.model.figures import counted, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.maintenance.due import Compacting

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Names of catalogs.", show_default=False),
]


@command
def storage(
    session: Session,
    names: NamesArgument = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Most to list.")] = 100,
) -> None:
    """Show what the files of catalogs take.

    Private bytes are of files that nobody else sees, shared ones others see too; freed ones go if
    the catalog is dropped.

    \b
    Examples:
      forklake storage
      forklake storage sales agent-1
    """
    with session.reach() as metastore:
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
        yield table(("catalog", *sizes), rows, numbers=sizes) if rows else "No catalogs."

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
    session.output.show(document, draw)


@command
def maintain(
    session: Session,
    names: NamesArgument = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Begin nothing new after that time.", show_default=False),
    ] = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Also merge, rewrite and flush, with Spark.")
    ] = False,
) -> None:
    """Expire snapshots, remove files, reclaim what was dropped.

    Catalogs whose time to live is over are dropped first. It may run in several places at once.
    Options of the catalogs say how old things must be.

    \b
    Examples:
      forklake maintain
      forklake maintain sales --compact --seconds 600
    """
    from forklake.maintenance.due import maintain as run

    with session.open() as metastore, ExitStack() as stack:
        compacting = _compacting(session, stack) if compact else None
        steps = list(run(metastore, names, seconds=seconds, compacting=compacting))

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
        yield table(("catalog", "operation", "done", "time"), rows) if rows else "Nothing was due."
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
    session.output.show(document, draw)


def _compacting(session: Session, stack: ExitStack) -> Compacting:
    import forklake
    from forklake.maintenance.due import with_session

    spark = stack.enter_context(forklake.connect())
    return with_session(spark, session.uri, session.metadata_schema)
