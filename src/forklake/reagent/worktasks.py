"""One worktask on its session: inputs, the work, the output, the checks."""

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
from forklake.reagent.places import Worker, counted_rows
from forklake.reagent.preparing import Prepared
from forklake.reagent.reports import Checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RESULT = "__result"


@dataclass(slots=True)
class Performed:
    """What a try has come to, however it ends."""

    rows: int | None = None
    checks: list[Checked] = field(default_factory=list)


def perform(
    worker: Worker,
    task: Prepared,
    done: Performed,
    proceed: Callable[[], None],
    *,
    is_inside: bool,
) -> None:
    """Run a worktask; what it did is told to `done`. `proceed` fails if it is to end.

    An atomic one is one transaction, checks included: nothing of it stays if a check fails. What
    is inside of a greater transaction is left to that.
    """
    is_own = task.task.atomic and not is_inside
    with worker.transaction() if is_own else nullcontext():
        frames = load_inputs(worker, task)
        if task.function is not None:
            done.rows = _call(worker, task, frames)
        else:
            done.rows = _run_sql(worker, task, frames)
        done.checks = run_checks(worker, task)
        require_passed(task.name, done.checks)
        proceed()  # a function cannot be stopped, but what it did need not count


def _run_sql(worker: Worker, task: Prepared, frames: Mapping[str, DataFrame]) -> int | None:
    text = task.task.sql
    assert text is not None
    if task.output is not None:
        return write_output(worker, task, text, frames)
    return counted_rows(worker.execute(text, task.parameters_of(text), frames=frames))


def _call(worker: Worker, task: Prepared, frames: Mapping[str, DataFrame]) -> int | None:
    assert task.function is not None
    result = task.function(**_arguments(worker, task, frames))
    if task.output is None:
        return result if isinstance(result, int) else None
    if not hasattr(result, "sparkSession"):
        raise InvalidInput(
            f"The function of task '{task.name}' returned a {type(result).__name__}.",
            remedy="Return a DataFrame for the output, or leave the output out.",
        )
    return write_output(worker, task, f"SELECT * FROM {_RESULT}", {_RESULT: result})


def _arguments(worker: Worker, task: Prepared, frames: Mapping[str, DataFrame]) -> dict[str, Any]:
    """What the function of a worktask asks for, by name."""
    assert task.function is not None
    known: dict[str, Any] = {**task.values, **frames}
    wanted = inspect.signature(task.function).parameters
    if "session" in wanted:
        known["session"] = worker.session
    missing = [
        name
        for name, one in wanted.items()
        if name not in known and one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]
    if missing:
        raise InvalidInput(
            f"The function of task '{task.name}' asks for {', '.join(missing)}.",
            remedy="Its arguments are inputs, parameters and `session`.",
        )
    return {name: known[name] for name in wanted if name in known}
