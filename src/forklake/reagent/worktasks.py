"""Execution of one worktask in its session: inputs, work, output and checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forklake.errors import InvalidInput
from forklake.reagent.checks import require_passed, run_checks
from forklake.reagent.inputs import load_inputs
from forklake.reagent.outputs import write_output
from forklake.reagent.places import Worker, count_changed_rows
from forklake.reagent.prepared_tasks import PreparedTask
from forklake.reagent.reports import CheckResult

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
_RESULT = "__result"


@dataclass(slots=True)
class TaskResult:
    """Results of a try, which are kept if it fails."""

    rows: int | None = None
    checks: list[CheckResult] = field(default_factory=list)


def perform(
    worker: Worker,
    task: PreparedTask,
    done: TaskResult,
    proceed: Callable[[], None],
    *,
    is_inside: bool,
) -> None:
    """Run a worktask and store its results in `done`. `proceed` raises if it was stopped.

    An atomic worktask is one transaction that includes its checks: if one fails, nothing is
    committed. With `is_inside`, the surrounding transaction of the run is used instead.
    """
    is_own = task.task.atomic and not is_inside
    with worker.transaction() if is_own else nullcontext():
        frames = load_inputs(worker, task)
        if task.function is not None:
            done.rows = _call_function(worker, task, frames)
        else:
            done.rows = _run_sql(worker, task, frames)
        done.checks = run_checks(worker, task)
        require_passed(task.name, done.checks)
        proceed()  # a function cannot be interrupted, but its changes are rolled back


def _run_sql(worker: Worker, task: PreparedTask, frames: Mapping[str, DataFrame]) -> int | None:
    text = task.task.sql
    assert text is not None
    if task.output is not None:
        return write_output(worker, task, text, frames)
    return count_changed_rows(worker.execute(text, task.parameters_of(text), frames=frames))


def _call_function(
    worker: Worker, task: PreparedTask, frames: Mapping[str, DataFrame]
) -> int | None:
    assert task.function is not None
    result = task.function(**_collect_arguments(worker, task, frames))
    if task.output is None:
        return result if isinstance(result, int) else None
    if not hasattr(result, "sparkSession"):
        raise InvalidInput(
            f"The function of task '{task.name}' returned a {type(result).__name__}.",
            remedy="Return a DataFrame, or remove the output of the task.",
        )
    return write_output(worker, task, f"SELECT * FROM {_RESULT}", {_RESULT: result})


def _collect_arguments(
    worker: Worker, task: PreparedTask, frames: Mapping[str, DataFrame]
) -> dict[str, Any]:
    """Return the arguments of the function of a worktask, by name."""
    assert task.function is not None
    known: dict[str, Any] = {**task.values, **frames}
    parameters = inspect.signature(task.function).parameters
    if "session" in parameters:
        known["session"] = worker.session
    missing = [
        name
        for name, one in parameters.items()
        if name not in known and one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]
    if missing:
        raise InvalidInput(
            f"The function of task '{task.name}' has unknown arguments: {', '.join(missing)}.",
            remedy="Arguments are the names of inputs and parameters, and `session`.",
        )
    return {name: known[name] for name in parameters if name in known}
