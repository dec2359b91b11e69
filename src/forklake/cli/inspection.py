"""Commands that inspect one catalog: its tables and its history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import short_time
from forklake.cli.output import make_table
from forklake.errors import InvalidInput
from forklake.model.figures import counted, size

if TYPE_CHECKING:
    from rich.console import RenderableType

CatalogArgument = Annotated[str, typer.Argument(help="Name of the catalog.", show_default=False)]


@command
def tables(
    context: CommandContext,
    catalog: CatalogArgument,
    version: Annotated[
        int | None,
        typer.Option(
            metavar="SNAPSHOT", help="List the state at this snapshot.", show_default=False
        ),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="List the state at this time, in ISO 8601. UTC unless it has a time zone.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the tables of a catalog, now or in the past.

    \b
    Examples:
      forklake tables sales
      forklake tables sales --version 42
      forklake tables sales --timestamp 2026-01-31T12:00
    """
    from forklake.cli.documents import table_documents

    moment = None if timestamp is None else _parse_moment(timestamp)
    with context.connect() as metastore:
        found = metastore.catalog(catalog)
        snapshot, documents = table_documents(found, version, moment)
    documents.sort(key=lambda one: (one["schema"].casefold(), one["table"].casefold()))

    def draw() -> Iterator[RenderableType]:
        if documents:
            rows = [
                (
                    one["schema"],
                    one["table"],
                    _describe_columns(one),
                    f"{one['rows']:,}",
                    size(one["size_bytes"]),
                )
                for one in documents
            ]
            yield make_table(
                ("schema", "table", "columns", "rows", "size"), rows, numbers=("rows", "size")
            )
        yield f"{counted(len(documents), 'table')} at snapshot {snapshot}."

    document = {"catalog": catalog, "snapshot_id": snapshot, "tables": documents}
    context.output.show(document, draw)


def _describe_columns(document: dict[str, Any]) -> str:
    return ", ".join(f"{column['name']} {column['type']}" for column in document["columns"])


def _parse_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"The timestamp {text!r} is not valid.",
            remedy="Use ISO 8601, such as 2026-01-31T12:00:00Z.",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@command
def snapshots(
    context: CommandContext,
    catalog: CatalogArgument,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Maximum number; the newest are listed.")
    ] = 100,
) -> None:
    """List the snapshots of a catalog, newest last.

    The history of a fork includes the history of its parent up to the forked snapshot.

    \b
    Examples:
      forklake snapshots sales
      forklake snapshots sales --limit 5
    """
    from forklake.cli.documents import snapshot_document

    with context.connect() as metastore:
        found = metastore.catalog(catalog).snapshots(limit=limit)
    rows = [
        (
            one.snapshot_id,
            short_time(one.snapshot_time),
            ", ".join(map(str, one.changes)),
            one.author,
            one.commit_message,
        )
        for one in found
    ]
    headings = ("snapshot", "time (UTC)", "changes", "author", "message")
    document = {"catalog": catalog, "snapshots": [snapshot_document(one) for one in found]}
    context.output.show(document, lambda: [make_table(headings, rows, numbers=("snapshot",))])
