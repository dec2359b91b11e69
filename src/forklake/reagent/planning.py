"""Plans of runs: what a workbook and whoever runs it say, checked before anything is touched."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from forklake.errors import InvalidInput
from forklake.reagent.graphs import graph_of
from forklake.reagent.parameters import values_of
from forklake.reagent.preparing import Prepared, prepare
from forklake.reagent.workbooks import Isolation, Value, Workbook

_RUN_ID = re.compile(r"[\w.:@+-]{1,120}")


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of a run before it begins."""

    run_id: str
    workbook: Workbook  # as it is to be run
    catalog: str
    graph: Mapping[str, frozenset[str]]
    values: Mapping[str, Value]
    tasks: Mapping[str, Prepared]
    keep_fork: bool = False


def plan_run(
    workbook: Workbook,
    *,
    catalog: str | None = None,
    isolation: Isolation | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    workers: int | None = None,
    keep_going: bool | None = None,
    keep_fork: bool = False,
    only: Sequence[str] = (),
    run_id: str | None = None,
) -> Plan:
    """A run of a workbook; InvalidInput if it could not work. Nothing is touched yet.

    Args:
        catalog, isolation, workers, keep_going: where they are not as the workbook says.
        parameters: values; texts become what the defaults are.
        keep_fork: leave the fork of a run that fails, to be looked at.
        only: the worktasks to run, if not all.
        run_id: of a run that may be tried again: what it has committed is not committed twice.
    """
    workbook = replace(
        workbook,
        isolation=_isolation(isolation or workbook.isolation),
        workers=workers or workbook.workers,
        keep_going=workbook.keep_going if keep_going is None else keep_going,
    )
    target = catalog or workbook.catalog
    if target is None:
        raise InvalidInput(
            f"Workbook '{workbook.name}' does not say in which catalog it works.",
            remedy='Name one with --catalog, or write catalog = "…" in it.',
        )
    run_id = _checked_id(run_id or new_run_id())
    graph = graph_of(workbook, only)
    values = values_of(workbook, parameters or {}, run=run_id, folder=workbook.folder)
    tasks = prepare(workbook, graph, values)
    return Plan(run_id, workbook, target, graph, values, tasks, keep_fork)


def _isolation(said: str) -> Isolation:
    try:
        return Isolation(said)
    except ValueError:
        raise InvalidInput(
            f"There is no isolation {said!r}.", remedy=f"Use one of: {', '.join(Isolation)}."
        ) from None


def _checked_id(run_id: str) -> str:
    """It stands in the names of forks and of files."""
    if not _RUN_ID.fullmatch(run_id):
        raise InvalidInput(
            f"A run cannot be called {run_id!r}.", remedy="Use letters, digits and _ . : @ + -"
        )
    return run_id


def new_run_id() -> str:
    """A name for a run: when it began, and a little chance."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
