"""Command that runs workbooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.context import CommandContext, command
from forklake.cli.formatting import duration, escape
from forklake.cli.output import make_console, make_table
from forklake.cli.packages import require_packages
from forklake.errors import OUTCOMES, InvalidInput
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from forklake.reagent.places import Place
    from forklake.reagent.reports import RunReport
    from forklake.reagent.run_plan import RunPlan
    from forklake.reagent.workbook_run import OnChange

_COLUMNS = ("task", "state", "tries", "rows", "time", "snapshots")
_NUMBERS = ("tries", "rows", "time")


class IsolationOption(Enum):
    """Isolation of a run from other readers."""

    DIRECT = "direct"
    TRANSACTION = "transaction"
    FORK = "fork"


@command
def run(
    context: CommandContext,
    workbook: Annotated[
        str, typer.Argument(metavar="WORKBOOK", help="Workbook in TOML or Python.")
    ],
    catalog: Annotated[
        str | None,
        typer.Option(
            "--catalog",
            "-c",
            metavar="NAME",
            help="Catalog to run in. Defaults to that of the workbook.",
            show_default=False,
        ),
    ] = None,
    isolation: Annotated[
        IsolationOption | None,
        typer.Option(
            help="When others see changes: after each worktask, or at the end, through one"
            " transaction or the merge of a fork. Defaults to that of the workbook.",
            show_default=False,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="Set a parameter. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of worktasks at once.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK", help="Run only this worktask. Can be repeated.", show_default=False
        ),
    ] = None,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going", help="After a failure, run the worktasks that do not depend on it."
        ),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the fork of a run that failed.")
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write a report to this folder.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check the workbook and show the order, without a run."),
    ] = False,
) -> None:
    """Run a workbook: parallel worktasks, checks and a report.

    \b
    Examples:
      forklake run daily.toml
      forklake run daily.toml -c sales --isolation fork -p day=2026-01-31 --report reports
      forklake run daily.toml --dry-run
    """
    with require_packages("Workbooks", "reagent"):
        from forklake.reagent.run_plan import plan_run
        from forklake.reagent.workbook_files import load_workbook
        from forklake.reagent.workbook_run import WorkbookRun
    plan = plan_run(
        load_workbook(workbook),
        catalog=catalog,
        isolation=None if isolation is None else isolation.value,
        parameters=dict(map(_parse_parameter, values or [])),
        workers=workers,
        keep_going=keep_going or None,
        keep_fork=keep,
        only=only or [],
    )
    if dry_run:
        _show_plan(context, plan)
        return
    with closing(_open_place(context)) as place, _show_progress(context) as on_change:
        result = WorkbookRun(plan, place, on_change).run()
    files = [str(path) for path in result.write(report)] if report is not None else []
    _show_run(context, result, files)


def _open_place(context: CommandContext) -> Place:
    if context.server is not None:
        from forklake.reagent.served import ServedPlace

        return ServedPlace(context.client())
    from forklake.reagent.local import LocalPlace

    return LocalPlace(context.uri, metadata_schema=context.metadata_schema)


def _parse_parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(
            f"The parameter {text!r} has no value.", remedy="Write --param NAME=VALUE."
        )
    return name, value


# Output


@contextmanager
def _show_progress(context: CommandContext) -> Iterator[OnChange | None]:
    """Show the states of all worktasks during a run, on a terminal."""
    console = make_console(sys.stderr)
    if context.output.as_json or not console.is_terminal:
        yield None
        return
    from rich.live import Live

    shown: list[RunReport] = []
    os.environ["FORKLAKE_PROGRESS"] = "0"  # two live displays would overwrite each other
    with Live(
        get_renderable=lambda: _draw_tasks(shown[0]) if shown else "Starting …",
        console=console,
        refresh_per_second=4,
        transient=True,
    ):
        yield lambda run, task: shown.append(run) if not shown else None


def _draw_tasks(run: RunReport) -> Table:
    rows = [
        (
            one.name,
            one.state.value,
            one.tries or None,
            None if one.rows is None else f"{one.rows:,}",
            duration(one.seconds) if one.began else None,
            ", ".join(map(str, one.snapshots)),
        )
        for one in run.tasks.values()
    ]
    return make_table(_COLUMNS, rows, numbers=_NUMBERS)


def _show_run(context: CommandContext, run: RunReport, files: list[str]) -> None:
    def draw() -> Iterator[RenderableType]:
        yield _draw_tasks(run)
        yield from _summary_lines(run, files)

    context.output.show(run.document() | {"files": files}, draw)
    failure = run.failure()
    if not run.succeeded:
        codes = {kind.code: code for kind, (_, code) in OUTCOMES.items()}
        raise typer.Exit(codes.get(failure.code, 1) if failure is not None else 1)


def _summary_lines(run: RunReport, files: list[str]) -> Iterator[str]:
    for task in run.tasks.values():
        for check in task.checks:
            if not check.passed:
                word = "warning" if check.warn else "failed check"
                yield escape(f"{word}: {task.name}: {check.name} ({check.found})")
    failure = run.failure()
    if failure is not None:
        yield escape(f"error: {failure.message}")
        if failure.remedy:
            yield escape(f"hint: {failure.remedy}")
    if run.fork is not None:
        yield escape(f"The fork {run.fork} was kept.")
    if run.publication is not None and run.publication.snapshot_id is not None:
        yield escape(f"Merged into {run.catalog} as snapshot {run.publication.snapshot_id}.")
    yield from (f"Report: {escape(one)}" for one in files)
    word = "Done" if run.succeeded else "Failed"
    yield f"{word} in {duration(run.seconds)}: run {run.run_id}."


def _show_plan(context: CommandContext, plan: RunPlan) -> None:
    from forklake.reagent.graphs import group_by_order

    groups = group_by_order(plan.graph)

    def draw() -> Iterator[RenderableType]:
        rows = [
            (number, name, ", ".join(sorted(plan.graph[name])), _describe_output(plan, name))
            for number, group in enumerate(groups, 1)
            for name in group
        ]
        yield make_table(("step", "task", "after", "output"), rows, numbers=("step",))
        count = counted(len(plan.graph), "task")
        yield f"{count} in {escape(plan.catalog)}, isolation {plan.workbook.isolation}."

    document = {
        "workbook": plan.workbook.name,
        "catalog": plan.catalog,
        "isolation": plan.workbook.isolation.value,
        "steps": groups,
    }
    context.output.show(document, draw)


def _describe_output(plan: RunPlan, name: str) -> str:
    output = plan.tasks[name].output
    return "" if output is None else f"{output.table} ({output.mode})"
