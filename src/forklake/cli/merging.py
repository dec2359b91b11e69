"""Commands that compare catalogs and merge forks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.output import table
from forklake.cli.session import Session, command
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.client.documents import Document

TablesOption = Annotated[
    list[str] | None,
    typer.Option("--table", "-t", metavar="NAME", help="Only this table.", show_default=False),
]


class OnConflict(Enum):
    """What happens to rows that both changed."""

    FAIL = "fail"
    OURS = "ours"
    THEIRS = "theirs"


@command
def diff(
    session: Session,
    first: Annotated[str, typer.Argument(help="A catalog.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one.", show_default=False)],
    tables: TablesOption = None,
    rows: Annotated[bool, typer.Option("--rows", help="Also show rows.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="Most rows to show of each table.")
    ] = 20,
) -> None:
    """Show how a second catalog differs from a first one.

    Rows of forks are told apart by their ids, those of unrelated catalogs by all columns.

    \b
    Examples:
      forklake diff sales agent-1
      forklake diff sales agent-1 --table orders --rows --limit 5
    """
    if session.server is not None:
        with session.client() as client:
            found = client.catalog(first).diff(second, tables=tables, rows=rows, limit=limit)
    else:
        import forklake
        from forklake.merging import diff as compare

        with session.open() as metastore, forklake.connect() as spark:
            found = compare(
                spark, metastore, first, second, tables=tables, rows=rows, limit=limit
            ).as_dict()
    session.output.show(found, lambda: _drawn_diff(found))


def _drawn_diff(found: Document) -> Iterator[RenderableType]:
    yield from found["definitions"]
    numbers = ("added", "removed", "changed")
    if found["tables"]:
        lines = [
            (one["table"], one["did"], ", ".join(one["columns"]), *(one[name] for name in numbers))
            for one in found["tables"]
        ]
        yield table(("table", "", "columns", *numbers), lines, numbers=numbers)
    for one in found["tables"]:
        if one["rows"]:
            parts = ("did", "row_id", "before", "after")
            shown = [tuple(row[part] for part in parts) for row in one["rows"]]
            yield one["table"]
            yield table(("", "row", found["first"], found["second"]), shown)
    if not (found["tables"] or found["definitions"]):
        yield f"'{found['first']}' and '{found['second']}' are the same."


@command
def merge(
    session: Session,
    fork: Annotated[str, typer.Argument(help="The fork.", show_default=False)],
    into: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The catalog to merge into: what the fork was forked from, or a fork of it.",
            show_default=False,
        ),
    ] = None,
    tables: TablesOption = None,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="Rows that both changed: fail, or keep ours or theirs, the fork's."),
    ] = OnConflict.FAIL,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done.")
    ] = False,
    message: Annotated[
        str | None, typer.Option(help="What the snapshot says about it.", show_default=False)
    ] = None,
) -> None:
    """Merge what a fork has done into what it was forked from.

    New files are taken over as they are; changed rows are compared row by row. All of it is one
    snapshot, or nothing is changed. Merging again takes what came since.

    \b
    Examples:
      forklake merge agent-1 --dry-run
      forklake merge agent-1
      forklake merge sales --into agent-1
    """
    wanted: Document = {
        "tables": tables,
        "on_conflict": on_conflict.value,
        "dry_run": dry_run,
        "message": message,
    }
    if session.server is not None:
        with session.client() as client:
            merged = client.merge(fork, into=into, **wanted)
    else:
        import forklake
        from forklake.merging import publish

        with session.open() as metastore, forklake.connect() as spark:
            merged = publish(spark, metastore, fork, into=into, **wanted).as_dict()
    session.output.show(merged, lambda: _drawn_merge(merged))


def _drawn_merge(merged: Document) -> Iterator[RenderableType]:
    yield from merged["definitions"]
    parts = ("appended_rows", "appended_files", "updated", "deleted", "conflict_count")
    if merged["tables"]:
        numbers = ("appended", "files", "updated", "deleted", "conflicts")
        lines = [(one["table"], *(one[part] for part in parts)) for one in merged["tables"]]
        yield table(("table", *numbers), lines, numbers=numbers)
    for conflict in merged["conflicts"]:
        yield f"{conflict['what']}: {conflict['reason']}"
    for one in merged["tables"]:
        for row in one["conflicts"]:
            yield (
                f"row {row['row_id']} of {one['table']}: {row['source_did']} in"
                f" '{merged['source']}', {row['target_did']} in '{merged['target']}'"
            )
    if merged["left_out"]:
        yield f"Left out, though changed too: {', '.join(merged['left_out'])}."
    yield _summary(merged)


def _summary(merged: Document) -> str:
    target = merged["target"]
    if merged["snapshot_id"] is not None:
        done = counted(len(merged["tables"]), "table")
        return f"Merged {done} into '{target}' as snapshot {merged['snapshot_id']}."
    if merged["tables"] or merged["definitions"] or merged["conflicts"]:
        return "Nothing was changed: this is what would be done."
    return f"'{target}' has all of '{merged['source']}' already."
