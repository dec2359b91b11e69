"""The command that runs workbooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from forklake.cli.formatting import duration, visible
from forklake.cli.output import console_for, table
from forklake.cli.packages import needing_packages
from forklake.cli.session import Session, command
from forklake.errors import OUTCOMES, InvalidInput
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from forklake.reagent.places import Place
    from forklake.reagent.planning import Plan
    from forklake.reagent.reports import RunReport
    from forklake.reagent.running import Tell

_COLUMNS = ("task", "state", "tries", "rows", "time", "snapshots")
_NUMBERS = ("tries", "rows", "time")


class IsolationOption(Enum):
    """Who sees what of a run, and when."""

    DIRECT = "direct"
    TRANSACTION = "transaction"
    FORK = "fork"


@command
def run(
    session: Session,
    workbook: Annotated[str, typer.Argument(metavar="WORKBOOK", help="A file in TOML or Python.")],
    catalog: Annotated[
        str | None,
        typer.Option("--catalog", "-c", metavar="NAME", help="The catalog.", show_default=False),
    ] = None,
    isolation: Annotated[
        IsolationOption | None,
        typer.Option(help="What others see before the end.", show_default=False),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--param", "-p", metavar="NAME=VALUE", help="A parameter.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Most tasks at once.", show_default=False)
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="TASK", help="Run this task, not all.", show_default=False),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="After a failure run what does not need it.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the fork of a run that fails.")
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write the report there.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check it and show the order; run nothing.")
    ] = False,
) -> None:
    """Run a workbook: tasks side by side, checks, and a report.

    \b
    Examples:
      forklake run daily.toml
      forklake run daily.toml -c sales --isolation fork -p day=2026-01-31 --report reports
      forklake run daily.toml --dry-run
    """
    with needing_packages("Workbooks", "reagent"):
        from forklake.reagent.loading import load_workbook
        from forklake.reagent.planning import plan_run
        from forklake.reagent.running import Run
    plan = plan_run(
        load_workbook(workbook),
        catalog=catalog,
        isolation=None if isolation is None else isolation.value,
        parameters=dict(map(_pair, values or [])),
        workers=workers,
        keep_going=keep_going or None,
        keep_fork=keep,
        only=only or [],
    )
    if dry_run:
        _show_plan(session, plan)
        return
    with closing(_place(session)) as place, _watching(session) as tell:
        done = Run(plan, place, tell).run()
    files = [str(path) for path in done.write(report)] if report is not None else []
    _show(session, done, files)


def _place(session: Session) -> Place:
    if session.server is not None:
        from forklake.reagent.served import ServedPlace

        return ServedPlace(session.client())
    from forklake.reagent.local import LocalPlace

    return LocalPlace(session.uri, metadata_schema=session.metadata_schema)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(
            f"The parameter {text!r} has no value.", remedy="Write --param NAME=VALUE."
        )
    return name, value


# What is shown


@contextmanager
def _watching(session: Session) -> Iterator[Tell | None]:
    """On a terminal, a table of all tasks that is always up to date."""
    console = console_for(sys.stderr)
    if session.output.as_json or not console.is_terminal:
        yield None
        return
    from rich.live import Live

    shown: list[RunReport] = []
    os.environ["FORKLAKE_PROGRESS"] = "0"  # two live displays would draw over each other
    with Live(
        get_renderable=lambda: _tasks(shown[0]) if shown else "Starting …",
        console=console,
        refresh_per_second=4,
        transient=True,
    ):
        yield lambda run, task: shown.append(run) if not shown else None


def _tasks(run: RunReport) -> Table:
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
    return table(_COLUMNS, rows, numbers=_NUMBERS)


def _show(session: Session, run: RunReport, files: list[str]) -> None:
    def draw() -> Iterator[RenderableType]:
        yield _tasks(run)
        yield from _told(run, files)

    session.output.show(run.document() | {"files": files}, draw)
    failure = run.failure()
    if not run.succeeded:
        codes = {kind.code: code for kind, (_, code) in OUTCOMES.items()}
        raise typer.Exit(codes.get(failure.code, 1) if failure is not None else 1)


def _told(run: RunReport, files: list[str]) -> Iterator[str]:
    for task in run.tasks.values():
        for check in task.checks:
            if not check.passed:
                word = "warning" if check.warn else "failed check"
                yield visible(f"{word}: {task.name}: {check.name} ({check.found})")
    failure = run.failure()
    if failure is not None:
        yield visible(f"error: {failure.message}")
        if failure.remedy:
            yield visible(f"hint: {failure.remedy}")
    if run.fork is not None:
        yield visible(f"The fork {run.fork} is kept.")
    if run.publication is not None and run.publication.snapshot_id is not None:
        yield visible(f"Published to {run.catalog} as snapshot {run.publication.snapshot_id}.")
    yield from (f"Report: {visible(one)}" for one in files)
    word = "Done" if run.succeeded else "Failed"
    yield f"{word} in {duration(run.seconds)}: run {run.run_id}."


def _show_plan(session: Session, plan: Plan) -> None:
    from forklake.reagent.graphs import ordered

    groups = ordered(plan.graph)

    def draw() -> Iterator[RenderableType]:
        rows = [
            (number, name, ", ".join(sorted(plan.graph[name])), _output(plan, name))
            for number, group in enumerate(groups, 1)
            for name in group
        ]
        yield table(("step", "task", "after", "output"), rows, numbers=("step",))
        said = counted(len(plan.graph), "task")
        yield f"{said} in {visible(plan.catalog)}, isolation {plan.workbook.isolation}."

    document = {
        "workbook": plan.workbook.name,
        "catalog": plan.catalog,
        "isolation": plan.workbook.isolation.value,
        "steps": groups,
    }
    session.output.show(document, draw)


def _output(plan: Plan, name: str) -> str:
    output = plan.tasks[name].output
    return "" if output is None else f"{output.table} ({output.mode})"
