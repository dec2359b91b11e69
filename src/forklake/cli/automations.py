"""Commands for automations: workbooks that run on a schedule, or when a table changes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.firings import (
    automation_document,
    describe_firing,
    describe_trigger,
    firing_document,
    format_run_time,
)
from forklake.cli.formatting import escape, short_time
from forklake.cli.output import make_table
from forklake.cli.packages import require_packages
from forklake.errors import InvalidInput
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forklake.reagent.automations import Automations
    from forklake.store.automations import Automation
    from forklake.store.firings import Firing

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
NameArgument = Annotated[
    str, typer.Argument(metavar="AUTOMATION", help="Name of an automation.", show_default=False)
]

CatalogArgument = Annotated[
    str, typer.Argument(help="Catalog that the workbook runs in.", show_default=False)
]
WorkbookArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="File of the workbook.", show_default=False)
]
ScheduleOption = Annotated[
    str | None,
    typer.Option(metavar="CRON", help="Schedule as a cron expression.", show_default=False),
]
TimeZoneOption = Annotated[str, typer.Option(metavar="NAME", help="Time zone of the schedule.")]
TableOption = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="Run when this table changes.", show_default=False
    ),
]
TableCatalogOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Catalog of that table. Defaults to CATALOG.", show_default=False
    ),
]
ParametersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Value of a parameter. {due}, {date} and {snapshot} are replaced by those of the"
        " firing. Can be repeated.",
        show_default=False,
    ),
]
IsolationOption = Annotated[
    str | None,
    typer.Option(
        help="direct, transaction or fork. Defaults to the isolation of the workbook.",
        show_default=False,
    ),
]
OverlapOption = Annotated[
    str | None,
    typer.Option(
        help="skip or queue a firing that is due while an earlier one runs.", show_default=False
    ),
]
CatchUpOption = Annotated[
    str, typer.Option(help="latest or all: which of several missed firings are run.")
]
ByPathOption = Annotated[
    bool,
    typer.Option("--by-path", help="Store the path of the workbook instead of its contents."),
]


@app.callback()
def automations() -> None:
    """Run workbooks on a schedule, or when a table changes.

    Each command takes --json and the other global options of forklake.

    \b
    Examples:
      forklake automations add nightly sales report.toml --schedule '0 2 * * *'
      forklake automations run
      forklake automations history nightly
    """


@contextmanager
def _open_automations(context: CommandContext) -> Iterator[Automations]:
    with context.open() as metastore, require_packages("Automations", "reagent"):
        from forklake.reagent.automations import Automations

        yield Automations(metastore)


# Listing


@app.command("list")
@command
def list_automations(context: CommandContext) -> None:
    """List automations, each with the state of its last firing.

    \b
    Example:
      forklake automations list
    """
    with _open_automations(context) as found:
        known = found.all()
        names = found.metastore.names([one.catalog_id for one, _ in known])

    def draw() -> Iterator[RenderableType]:
        headings = ("name", "catalog", "when", "enabled", "next", "last", "state")
        rows = [
            (
                one.name,
                names.get(one.catalog_id, "dropped"),
                describe_trigger(one),
                "yes" if one.is_enabled else "no",
                one.next_due_at and one.is_enabled and short_time(one.next_due_at),
                last and short_time(last.due_at),
                last and last.state.value,
            )
            for one, last in known
        ]
        yield make_table(headings, rows) if rows else "No automations."

    document = {
        "automations": [
            automation_document(one, names.get(one.catalog_id))
            | {"last_firing": last and firing_document(last)}
            for one, last in known
        ]
    }
    context.output.show(document, draw)


@app.command()
@command
def history(
    context: CommandContext,
    name: NameArgument,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 20,
) -> None:
    """List the firings of an automation, newest first.

    \b
    Example:
      forklake automations history nightly --limit 5
    """
    with _open_automations(context) as found:
        firings = found.history(name, limit=limit)

    def draw() -> Iterator[RenderableType]:
        headings = ("occasion", "state", "tries", "started", "time", "snapshot", "message")
        rows = [
            (
                one.occasion,
                one.state.value,
                one.tries,
                one.started_at and short_time(one.started_at),
                format_run_time(one),
                one.result_snapshot,
                one.message,
            )
            for one in firings
        ]
        yield make_table(headings, rows, numbers=("tries", "snapshot")) if rows else "No firings."

    context.output.show({"firings": [firing_document(one) for one in firings]}, draw)


# Changing


@app.command()
@command
def add(
    context: CommandContext,
    name: NameArgument,
    catalog: CatalogArgument,
    workbook: WorkbookArgument,
    schedule: ScheduleOption = None,
    time_zone: TimeZoneOption = "UTC",
    watched: TableOption = None,
    table_catalog: TableCatalogOption = None,
    parameters: ParametersOption = None,
    isolation: IsolationOption = None,
    overlap: OverlapOption = None,
    catch_up: CatchUpOption = "latest",
    by_path: ByPathOption = False,
) -> None:
    """Add an automation.

    The contents of the workbook are stored in the metastore, so that every runner has them. Of a
    workbook in Python, only the path is stored.

    \b
    Examples:
      forklake automations add nightly sales report.toml --schedule '0 2 * * *' \\
        --time-zone Europe/Zurich --param day={date}
      forklake automations add clean sales clean.toml --table orders --catch-up all
    """
    is_kept = not by_path and workbook.suffix == ".toml"
    with _open_automations(context) as found:
        made = found.add(
            name,
            catalog,
            workbook_path=None if is_kept else _require_file(workbook),
            workbook_text=_read_workbook(workbook) if is_kept else None,
            parameters=dict(map(_parse_assignment, parameters or [])),
            isolation=isolation,
            schedule=schedule,
            time_zone=time_zone,
            table=watched,
            table_catalog=table_catalog,
            overlap=overlap,
            catch_up=catch_up,
        )
    message = f"Automation {escape(made.name)} runs {describe_trigger(made)}."
    context.output.show({"automation": automation_document(made, catalog)}, lambda: [message])


@app.command()
@command
def remove(context: CommandContext, name: NameArgument) -> None:
    """Remove an automation and the history of its firings.

    \b
    Example:
      forklake automations remove nightly
    """
    with _open_automations(context) as found:
        found.remove(name)
    context.output.show({"removed": name}, lambda: [f"Removed automation {escape(name)}."])


@app.command()
@command
def enable(context: CommandContext, name: NameArgument) -> None:
    """Enable an automation. Firings missed while it was disabled are not run.

    \b
    Example:
      forklake automations enable nightly
    """
    with _open_automations(context) as found:
        _show_switched(context, found.enable(name))


@app.command()
@command
def disable(context: CommandContext, name: NameArgument) -> None:
    """Disable an automation. A firing that is already running ends normally.

    \b
    Example:
      forklake automations disable nightly
    """
    with _open_automations(context) as found:
        _show_switched(context, found.disable(name))


def _show_switched(context: CommandContext, automation: Automation) -> None:
    state = "enabled" if automation.is_enabled else "disabled"
    document = {"name": automation.name, "is_enabled": automation.is_enabled}
    context.output.show(document, lambda: [f"Automation {escape(automation.name)} is {state}."])


@app.command()
@command
def fire(context: CommandContext, name: NameArgument) -> None:
    """Make an automation due now: the next free runner runs it.

    \b
    Example:
      forklake automations fire nightly
    """
    with _open_automations(context) as found:
        fired = found.fire(name)
    context.output.show({"firing": firing_document(fired)}, lambda: [f"{escape(name)} is due."])


# Running


@app.command()
@command
def run(
    context: CommandContext,
    once: Annotated[bool, typer.Option("--once", help="Run what is due now, then exit.")] = False,
    threads: Annotated[
        int, typer.Option(min=1, max=64, help="Number of workbooks that run at once.")
    ] = 1,
) -> None:
    """Run due workbooks until interrupted by Ctrl-C or SIGTERM.

    Several runners can share the work: each firing is run by one of them.

    \b
    Examples:
      forklake automations run --once
      forklake automations run --threads 4
    """
    with context.open() as metastore, require_packages("Automations", "reagent"):
        from forklake.reagent.automations import Runner
        from forklake.reagent.automations.background import run_in_background
        from forklake.reagent.automations.workbooks import workbooks

        with workbooks(context.uri, context.metadata_schema) as perform:
            if once:
                _show_firings(context, Runner(metastore, perform).run_due())
                return
            runner = Runner(metastore, perform, on_end=lambda *done: _print_firing(context, *done))
            with run_in_background(runner, threads):
                _wait_for_interrupt()


def _wait_for_interrupt() -> None:
    """Block until Ctrl-C or SIGTERM."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with suppress(KeyboardInterrupt):
        ended.wait()


def _print_firing(context: CommandContext, automation: Automation, firing: Firing) -> None:
    document = {"automation": automation.name, **firing_document(firing)}
    context.output.show(document, lambda: [describe_firing(automation, firing)])


def _show_firings(context: CommandContext, done: list[tuple[Automation, Firing]]) -> None:
    def draw() -> Iterator[RenderableType]:
        yield from (describe_firing(*one) for one in done)
        yield f"Ran {counted(len(done), 'firing')}."

    firings = [{"automation": automation.name, **firing_document(one)} for automation, one in done]
    context.output.show({"firings": firings}, draw)


# Arguments


def _parse_assignment(text: str) -> tuple[str, str]:
    name, is_there, value = text.partition("=")
    if not is_there or not name:
        raise InvalidInput(
            f"The parameter {text!r} has no value.", remedy="Write --param NAME=VALUE."
        )
    return name, value


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise InvalidInput(
            f"The workbook '{path}' does not exist or is not a file.",
            remedy="Pass the path of a workbook.",
        )
    return path


def _read_workbook(path: Path) -> str:
    try:
        return _require_file(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as reason:
        raise InvalidInput(
            f"The workbook '{path}' cannot be read: {reason}.",
            remedy="Pass a readable text file in UTF-8.",
        ) from None
