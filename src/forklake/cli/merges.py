"""Commands that compare catalogs and merge forks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.output import make_table
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.client.documents import Document

TablesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        "-t",
        metavar="NAME",
        help="Include only this table. Can be repeated.",
        show_default=False,
    ),
]


class OnConflict(Enum):
    """What a merge does with rows that both catalogs changed."""

    FAIL = "fail"
    OURS = "ours"
    THEIRS = "theirs"


@command
def diff(
    context: CommandContext,
    first: Annotated[str, typer.Argument(help="Catalog to compare with.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Catalog to compare.", show_default=False)],
    tables: TablesOption = None,
    rows: Annotated[bool, typer.Option("--rows", help="Also show differing rows.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="Maximum number of rows shown for each table.")
    ] = 20,
) -> None:
    """Show how the second catalog differs from the first.

    Rows of forks of one lineage are matched by their row ids, rows of unrelated catalogs by the
    values of all columns.

    \b
    Examples:
      forklake diff sales agent-1
      forklake diff sales agent-1 --table orders --rows --limit 5
    """
    with context.connect() as service:
        found = service.diff(first, second, tables=tables, rows=rows, limit=limit).as_dict()
    context.output.show(found, lambda: _draw_diff(found))


def _draw_diff(found: Document) -> Iterator[RenderableType]:
    yield from found["definitions"]
    numbers = ("added", "removed", "changed")
    if found["tables"]:
        lines = [
            (one["table"], one["did"], ", ".join(one["columns"]), *(one[name] for name in numbers))
            for one in found["tables"]
        ]
        yield make_table(("table", "", "columns", *numbers), lines, numbers=numbers)
    for one in found["tables"]:
        if one["rows"]:
            parts = ("did", "row_id", "before", "after")
            shown = [tuple(row[part] for part in parts) for row in one["rows"]]
            yield one["table"]
            yield make_table(("", "row", found["first"], found["second"]), shown)
    if not (found["tables"] or found["definitions"]):
        yield f"'{found['first']}' and '{found['second']}' are identical."


@command
def merge(
    context: CommandContext,
    fork: Annotated[
        str, typer.Argument(help="Source: the fork whose changes are merged.", show_default=False)
    ],
    into: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Target. Defaults to the parent of the fork; it can also be a fork of FORK.",
            show_default=False,
        ),
    ] = None,
    tables: TablesOption = None,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(
            help="For rows that both changed: fail, keep ours (the target) or theirs (the fork)."
        ),
    ] = OnConflict.FAIL,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be merged without changing anything."),
    ] = False,
    message: Annotated[
        str | None,
        typer.Option(help="Commit message of the new snapshot.", show_default=False),
    ] = None,
) -> None:
    """Merge the changes of a fork into its parent.

    New files are added without rewriting them. Changed rows are compared by row id. The merge is
    one snapshot of the target, or fails without any change. A later merge takes over only what
    changed since.

    \b
    Examples:
      forklake merge agent-1 --dry-run
      forklake merge agent-1
      forklake merge sales --into agent-1
    """
    with context.connect() as service:
        merged = service.merge(
            fork,
            into=into,
            tables=tables,
            on_conflict=on_conflict.value,
            dry_run=dry_run,
            message=message,
        ).as_dict()
    context.output.show(merged, lambda: _draw_merge(merged))


def _draw_merge(merged: Document) -> Iterator[RenderableType]:
    yield from merged["definitions"]
    parts = ("appended_rows", "appended_files", "updated", "deleted", "conflict_count")
    if merged["tables"]:
        numbers = ("appended", "files", "updated", "deleted", "conflicts")
        lines = [(one["table"], *(one[part] for part in parts)) for one in merged["tables"]]
        yield make_table(("table", *numbers), lines, numbers=numbers)
    for conflict in merged["conflicts"]:
        yield f"{conflict['what']}: {conflict['reason']}"
    for one in merged["tables"]:
        for row in one["conflicts"]:
            yield (
                f"row {row['row_id']} of {one['table']}: {row['source_did']} in"
                f" '{merged['source']}', {row['target_did']} in '{merged['target']}'"
            )
    if merged["left_out"]:
        yield f"Changed in the source, but not selected: {', '.join(merged['left_out'])}."
    yield _summarize_merge(merged)


def _summarize_merge(merged: Document) -> str:
    target = merged["target"]
    if merged["snapshot_id"] is not None:
        done = counted(len(merged["tables"]), "table")
        return f"Merged {done} into '{target}' as snapshot {merged['snapshot_id']}."
    if merged["tables"] or merged["definitions"] or merged["conflicts"]:
        return "Dry run: nothing was changed."
    return f"'{target}' already has all changes of '{merged['source']}'."
