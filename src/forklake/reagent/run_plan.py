"""Plans of runs: workbooks and options of the caller, validated before anything is changed."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from forklake.errors import InvalidInput
from forklake.reagent.graphs import build_graph
from forklake.reagent.parameters import resolve_parameters
from forklake.reagent.prepared_tasks import PreparedTask, prepare_tasks
from forklake.reagent.workbooks import Isolation, Value, Workbook

_RUN_ID = re.compile(r"[\w.:@+-]{1,120}")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Complete description of a run before it begins."""

    run_id: str
    workbook: Workbook  # with the options of the caller applied
    catalog: str
    graph: Mapping[str, frozenset[str]]
    values: Mapping[str, Value]
    tasks: Mapping[str, PreparedTask]
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
) -> RunPlan:
    """Plan a run of a workbook without changing anything. Raise InvalidInput if it is not valid.

    Args:
        catalog: overrides the setting of the workbook.
        isolation: overrides the setting of the workbook.
        workers: overrides the setting of the workbook.
        keep_going: overrides the setting of the workbook.
        parameters: values of parameters. Texts are converted to the types of the defaults.
        keep_fork: keep the fork of a run that fails, for inspection.
        only: names of the worktasks to run. Defaults to all.
        run_id: id for a run that may be retried: what one try has committed, later ones do not
            commit again.
    """
    workbook = replace(
        workbook,
        isolation=_parse_isolation(isolation or workbook.isolation),
        workers=workers or workbook.workers,
        keep_going=workbook.keep_going if keep_going is None else keep_going,
    )
    target = catalog or workbook.catalog
    if target is None:
        raise InvalidInput(
            f"Workbook '{workbook.name}' has no catalog.",
            remedy='Pass --catalog NAME, or write catalog = "NAME" in the workbook.',
        )
    run_id = _check_run_id(run_id or new_run_id())
    graph = build_graph(workbook, only)
    values = resolve_parameters(workbook, parameters or {}, run=run_id, folder=workbook.folder)
    tasks = prepare_tasks(workbook, graph, values)
    return RunPlan(run_id, workbook, target, graph, values, tasks, keep_fork)


def _parse_isolation(name: str) -> Isolation:
    try:
        return Isolation(name)
    except ValueError:
        raise InvalidInput(
            f"The isolation {name!r} does not exist.", remedy=f"Use one of: {', '.join(Isolation)}."
        ) from None


def _check_run_id(run_id: str) -> str:
    """Return the id of a run. It must be valid in the names of forks and files."""
    if not _RUN_ID.fullmatch(run_id):
        raise InvalidInput(
            f"The id of a run cannot be {run_id!r}.",
            remedy="Use up to 120 letters, digits and _ . : @ + -",
        )
    return run_id


def new_run_id() -> str:
    """Return a new id of a run: its start time and a random suffix."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
