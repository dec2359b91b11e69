"""Decorator of functions over DataFrames that are worktasks of a Python workbook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "__worktask__"


def worktask(
    *,
    name: str | None = None,
    after: Sequence[str] = (),
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    output: Mapping[str, Any] | str | None = None,
    checks: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> Callable[[Function], Function]:
    """Declare a function as a worktask. Its name defaults to the name of the function.

    The function is called with the values that its arguments name: inputs as DataFrames,
    parameters, and `session`. The DataFrame that it returns is written to the output. All other
    keys are those of a TOML file. A string as `output` is a table to append to.
    """
    document = {"after": after, "inputs": inputs or {}, "checks": checks, **more}
    if output is not None:
        document["output"] = {"table": output} if isinstance(output, str) else output

    def mark(function: Function) -> Function:
        setattr(function, MARK, (name or function.__name__, {**document, "python": function}))
        return function

    return mark


def worktasks_of(names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the worktasks of a module by name, in order, as a TOML file would describe them."""
    return dict(getattr(found, MARK) for found in names.values() if hasattr(found, MARK))
