"""Commands for Delta tables: import, publish, mirror, vacuum, status and check."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import escape
from forklake.cli.output import make_console, make_table
from forklake.errors import InvalidInput
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.catalog.catalog import Catalog
    from forklake.catalog.metastore import Metastore
    from forklake.delta.overview import DeltaTableStatus
    from forklake.delta.table_import import ImportProgress, ProgressCallback

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="Root of the Delta table.", show_default=False)
]
SomeCatalogArgument = Annotated[
    str | None,
    typer.Argument(help="Name of a catalog. Defaults to all catalogs.", show_default=False),
]


@app.callback()
def delta() -> None:
    """Import and publish Delta tables, and write their logs.

    Each command takes --json and the other global options of forklake.

    \b
    Examples:
      forklake delta import /data/orders --catalog sales
      forklake delta publish agent-1.orders /data/agent-1/orders
      forklake delta check
    """


@app.command("import")
@command
def import_delta(
    context: CommandContext,
    path: PathArgument,
    catalog: Annotated[
        str,
        typer.Option(
            "--catalog", "-c", metavar="NAME", help="Catalog to import into.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Name of the table. Defaults to the name of the folder.",
        ),
    ] = None,
    schema: Annotated[str, typer.Option(metavar="NAME", help="Schema of the table.")] = "main",
    own: Annotated[
        bool,
        typer.Option(
            "--own/--follow",
            help="Own the table: change it with Forklake, which writes its log. Or follow the log"
            " that other programs write.",
        ),
    ] = False,
    ignore_features: Annotated[
        bool,
        typer.Option(
            "--ignore-features",
            help="Read rows even if the log requires reader features that are not supported."
            " Rows can be wrong.",
        ),
    ] = False,
) -> None:
    """Import a Delta table, or update an imported one.

    The history is imported too. Files stay where they are. To import later versions of a log that
    is followed, run the command again.

    \b
    Examples:
      forklake delta import /data/orders --catalog sales
      forklake delta import /data/orders --catalog sales --as orders_2026 --own
    """
    from forklake.delta.table_import import import_delta as run
    from forklake.delta.takeover import take_over

    with context.open() as metastore:
        found = metastore.catalog(catalog)
        with _show_progress(context) as progress:
            done = run(
                found,
                path,
                name,
                schema=schema,
                ignore_features=ignore_features,
                progress=progress,
            )
        if own:
            take_over(found, found.now().state.table(done.table, done.schema))
        status = _read_status(found, done.schema, done.table)
    document = {**_status_document(status), "loaded": done.loaded, "files": done.files}
    counts = f"{counted(done.loaded, 'version')}, {counted(done.files, 'file')}"
    message = (
        f"Imported {escape(path)} as {escape(status.name)}: {counts}, now at version"
        f" {status.version}."
    )
    context.output.show(document, lambda: [message])


@contextmanager
def _show_progress(context: CommandContext) -> Iterator[ProgressCallback]:
    """Show the progress of an import on a terminal. Does nothing with --json or without one."""
    if context.output.as_json or not sys.stderr.isatty():
        yield lambda at: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    message = TextColumn("versions, {task.fields[files]:,} files")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), message)
    with Bar(
        *columns, TimeRemainingColumn(), console=make_console(sys.stderr), transient=True
    ) as bar:
        task = bar.add_task("Reading the log", total=None, files=0)

        def update(at: ImportProgress) -> None:
            bar.update(
                task,
                description=at.stage.value.capitalize(),
                completed=at.versions,
                total=at.total,
                files=at.files,
            )

        yield update


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
    path: PathArgument,
) -> None:
    """Publish a table as a Delta table for other readers.

    The data files are linked or copied to PATH. From then on, each commit is also written to the
    Delta log. Rows that are inlined in the metastore have to be flushed to files first.

    \b
    Examples:
      forklake delta publish sales.orders /data/orders
      forklake delta publish agent-1.main.orders /data/agent-1/orders
    """
    from forklake.delta.publication import publish_table

    catalog_name, schema, table_name = _split_table_name(name)
    with context.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        publish_table(catalog, table_name, schema, path)
        found = _read_status(catalog, schema, table_name)
    message = f"Published {escape(found.name)} to {escape(path)}, at version {found.version}."
    context.output.show(_status_document(found), lambda: [message])


def _split_table_name(name: str) -> tuple[str, str, str]:
    from forklake.session.names import split_name

    match split_name(name):
        case (catalog, schema, table_name):
            return catalog, schema, table_name
        case (catalog, table_name):
            return catalog, "main", table_name
    raise InvalidInput(
        f"The name {name!r} is not the name of a table in a catalog.",
        remedy="Write CATALOG.TABLE or CATALOG.SCHEMA.TABLE.",
    )


@app.command()
@command
def mirror(
    context: CommandContext,
    catalog: SomeCatalogArgument = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Repeat until interrupted by Ctrl-C.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(min=0.01, metavar="SECONDS", help="Time between repetitions with --watch."),
    ] = 10.0,
) -> None:
    """Write commits to the logs of Delta tables where they are missing.

    Sessions mirror their commits themselves. This command mirrors all others, and retries after
    failures. It can run in several processes at once. The exit code is 1 if a table could not be
    mirrored.

    \b
    Examples:
      forklake delta mirror
      forklake delta mirror sales --watch --every 60
    """
    with context.open() as metastore, suppress(KeyboardInterrupt) if watch else nullcontext():
        found = _mirror_once(context, metastore, catalog)
        while watch:
            time.sleep(every)
            found = _mirror_once(context, metastore, catalog, before=found)
    if not watch and any(one.lag for one in found):
        raise typer.Exit(1)


def _mirror_once(
    context: CommandContext,
    metastore: Metastore,
    name: str | None,
    *,
    before: list[DeltaTableStatus] | None = None,
) -> list[DeltaTableStatus]:
    """Mirror once and return the state of the tables. Show it if it differs from `before`."""
    from forklake.delta.mirror_writer import mirror_catalog
    from forklake.delta.overview import delta_catalogs

    catalogs = delta_catalogs(metastore, name)
    for one in catalogs:
        mirror_catalog(one)
    found = _list_statuses(catalogs)
    if found != before:
        _show_statuses(context, found)
    return found


@app.command()
@command
def vacuum(
    context: CommandContext,
    catalog: SomeCatalogArgument = None,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Minimum age of the removal of a file. Defaults to the property"
            " delta.deletedFileRetentionDuration of the table, then to one week.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the files.")] = False,
) -> None:
    """Delete files of Delta tables that their logs no longer need.

    Only tables whose logs Forklake writes are vacuumed. Files that a catalog refers to by path are
    kept: they are deleted when its snapshots expire.

    \b
    Examples:
      forklake delta vacuum sales --dry-run
      forklake delta vacuum --hours 24
    """
    from forklake.delta.overview import delta_catalogs
    from forklake.delta.vacuum import vacuum_table

    older_than = None if hours is None else datetime.now(UTC) - timedelta(hours=hours)
    with context.open() as metastore:
        files = [
            path
            for one in delta_catalogs(metastore, catalog)
            for status in _list_statuses([one])
            if not status.is_followed
            for path in vacuum_table(one, status.table, older_than=older_than, dry_run=dry_run)
        ]
    message = f"{'Would remove' if dry_run else 'Removed'} {counted(len(files), 'file')}."
    document = {"files": files, "removed": not dry_run}
    context.output.show(document, lambda: [*(files if dry_run else ()), message])


@app.command()
@command
def status(context: CommandContext, catalog: SomeCatalogArgument = None) -> None:
    """Show Delta tables and how far their logs are behind.

    \b
    Examples:
      forklake delta status
      forklake delta status sales --json
    """
    from forklake.delta.overview import delta_catalogs

    with context.open() as metastore:
        found = _list_statuses(delta_catalogs(metastore, catalog))
    _show_statuses(context, found)


def _list_statuses(catalogs: list[Catalog]) -> list[DeltaTableStatus]:
    from forklake.delta.overview import list_delta_tables

    return [one for catalog in catalogs for one in list_delta_tables(catalog)]


def _read_status(catalog: Catalog, schema: str, table_name: str) -> DeltaTableStatus:
    table_id = catalog.now().state.table(table_name, schema).table_id
    return next(one for one in _list_statuses([catalog]) if one.table.table_id == table_id)


def _show_statuses(context: CommandContext, found: list[DeltaTableStatus]) -> None:
    def draw() -> Iterator[RenderableType]:
        rows = [
            (one.name, one.version, one.mirrored_version, one.lag, one.state, one.mirror.last_error)
            for one in found
        ]
        numbers = ("version", "mirrored", "lag")
        if rows:
            yield make_table(("table", *numbers, "state", "error"), rows, numbers=numbers)
        yield f"{counted(len(rows), 'Delta table')}."

    context.output.show({"tables": [_status_document(one) for one in found]}, draw)


def _status_document(one: DeltaTableStatus) -> dict[str, Any]:
    return {
        "catalog": one.catalog,
        "schema": one.schema,
        "table": one.table.table_name,
        "location": one.delta_table.location,
        "mode": one.delta_table.mode,
        "version": one.version,
        "mirrored": one.mirrored_version,
        "lag": one.lag,
        "state": one.state,
        "error": one.mirror.last_error,
    }


@app.command()
@command
def check(context: CommandContext, catalog: SomeCatalogArgument = None) -> None:
    """Compare Delta tables with their logs and files.

    Lists all differences; the exit code is 1 if there are any. Nothing is changed.

    \b
    Examples:
      forklake delta check
      forklake delta check sales --json
    """
    from forklake.delta.audit import audit_catalog
    from forklake.delta.overview import delta_catalogs

    with context.open() as metastore:
        catalogs = delta_catalogs(metastore, catalog)
        tables = len(_list_statuses(catalogs))
        findings = [finding for one in catalogs for finding in audit_catalog(one)]

    def draw() -> Iterator[RenderableType]:
        if findings:
            rows = [(one.table, one.kind.value, one.message) for one in findings]
            yield make_table(("table", "finding", "description"), rows)
        yield f"{counted(tables, 'Delta table')}, {counted(len(findings), 'finding')}."

    document = {
        "tables": tables,
        "findings": [
            {"table": one.table, "kind": one.kind.value, "message": one.message} for one in findings
        ],
    }
    context.output.show(document, draw)
    if findings:
        raise typer.Exit(1)
