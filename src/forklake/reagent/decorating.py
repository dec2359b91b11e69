"""Python workbooks: functions over DataFrames that are worktasks."""

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
    """Make a function a worktask, of its own name unless another is given.

    The function is called with what its arguments name: inputs, as DataFrames; parameters; and
    `session`. The DataFrame that it returns goes to the output. All else is as in a TOML file; an
    output of one word is a table to append to.
    """
    said = {"after": after, "inputs": inputs or {}, "checks": checks, **more}
    if output is not None:
        said["output"] = {"table": output} if isinstance(output, str) else output

    def marked(function: Function) -> Function:
        setattr(function, MARK, (name or function.__name__, {**said, "python": function}))
        return function

    return marked


def worktasks_of(names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The worktasks among the names of a module, in their order, as a file would have them."""
    return dict(getattr(found, MARK) for found in names.values() if hasattr(found, MARK))
