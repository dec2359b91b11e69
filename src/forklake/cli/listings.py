"""Commands that list catalogs: page by page, or as the tree of forks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.cli.output import CommandOutput, make_table
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from forklake.model.ids import CatalogId
    from forklake.store.catalogs import CatalogRow

# Longer lists of new catalogs are summarized in one line.
_LISTED = 20


@command
def catalogs(
    context: CommandContext,
    prefix: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="List only names that begin with TEXT.", show_default=False
        ),
    ] = "",
    after: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Continue after this name of a previous page.", show_default=False
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="Maximum number of catalogs.")
    ] = 100,
) -> None:
    """List catalogs, ordered by name.

    \b
    Examples:
      forklake catalogs
      forklake catalogs --prefix agent- --after agent-000100
    """
    from forklake.cli.documents import catalog_document

    with context.connect() as metastore:
        rows = metastore.catalogs(prefix=prefix, after=after, limit=limit)
        is_full = len(rows) == limit
        last = rows[-1].catalog_name if is_full else None
        if last is not None and not metastore.catalogs(prefix=prefix, after=last, limit=1):
            last = None
        total = metastore.count()
        parents = [row.parent_catalog_id for row in rows if row.parent_catalog_id is not None]
        names = metastore.names(parents) if parents else {}

    def draw() -> Iterator[RenderableType]:
        if rows:
            yield catalog_table(rows, names)
        yield f"{describe_count(len(rows), total)}."
        if last is not None:
            chosen = f" --prefix {shlex.quote(prefix)}" if prefix else ""
            yield f"More: forklake catalogs{chosen} --after {shlex.quote(last)}"

    document = {
        "catalogs": [catalog_document(row) for row in rows],
        "total": total,
        "next_after": last,
    }
    context.output.show(document, draw)


@command
def tree(
    context: CommandContext,
    catalog: Annotated[
        str | None,
        typer.Argument(help="Draw only this catalog and its forks.", show_default=False),
    ] = None,
    depth: Annotated[int, typer.Option(min=0, help="Maximum depth of the tree.")] = 16,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of forks drawn for each catalog.")
    ] = 10,
) -> None:
    """Draw the tree of catalogs and their forks.

    \b
    Examples:
      forklake tree
      forklake tree sales --depth 1 --limit 50
    """
    from forklake.cli.tree import draw_tree, fork_tree, tree_document

    with context.connect() as metastore:
        root = metastore.catalog(catalog).row if catalog is not None else None
        found = fork_tree(metastore.all_catalogs(), root=root, depth=depth, limit=limit)
    context.output.show(tree_document(found), lambda: draw_tree(found) or ["No catalogs."])


def describe_count(shown: int, total: int | None) -> str:
    """Describe how many catalogs are shown, and of how many if `total` is known."""
    if total is None or shown == total:
        return counted(shown, "catalog")
    return f"{shown:,} of {total:,} catalogs"


def show_created(
    output: CommandOutput, rows: Sequence[CatalogRow], parent: str | None = None
) -> None:
    """Show the catalogs, or forks of `parent`, that a command created or found existing."""
    from forklake.cli.documents import catalog_document

    def draw() -> Iterator[RenderableType]:
        if len(rows) <= _LISTED:
            ids = [one for row in rows if (one := row.parent_catalog_id) is not None]
            yield catalog_table(rows, dict.fromkeys(ids, parent) if parent is not None else {})
        else:
            first, last = escape(rows[0].catalog_name), escape(rows[-1].catalog_name)
            yield f"{counted(len(rows), 'catalog')}: {first} … {last}"

    output.show({"catalogs": [catalog_document(row) for row in rows]}, draw)


def catalog_table(rows: Sequence[CatalogRow], names: Mapping[CatalogId, str]) -> Table:
    """Return a table of catalogs. A dropped parent is not in `names`: its id is shown."""
    cells = [
        (
            row.catalog_name,
            row.catalog_id,
            None
            if row.parent_catalog_id is None
            else names.get(row.parent_catalog_id, f"id {row.parent_catalog_id}"),
            row.fork_snapshot,
            row.data_path,
        )
        for row in rows
    ]
    return make_table(
        ("catalog", "id", "forked from", "at snapshot", "data path"),
        cells,
        numbers=("id", "at snapshot"),
    )
