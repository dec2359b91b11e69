"""Worktasks ready to run: parameters inserted, functions resolved and SQL parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from sqlglot import exp, tokenize
from sqlglot.tokenizer_core import TokenType

from forklake.errors import ForklakeError, InvalidInput
from forklake.reagent.parameters import insert_parameters, insert_sql_parameters
from forklake.reagent.workbook_files import load_function
from forklake.reagent.workbooks import (
    Check,
    Input,
    Isolation,
    Output,
    Value,
    Workbook,
    Worktask,
)

_SEMICOLON = TokenType.SEMICOLON
# Keys whose values are SQL, or names in SQL.
_SQL = frozenset({"sql", "where", "table", "query"})


@dataclass(frozen=True, slots=True)
class PreparedTask:
    """Worktask that is ready to run."""

    task: Worktask
    values: Mapping[str, Value]
    function: Callable[..., Any] | None
    folder: str

    @property
    def name(self) -> str:
        """Name of the worktask."""
        return self.task.name

    @property
    def inputs(self) -> Mapping[str, Input]:
        """Inputs of the worktask, by name."""
        return self.task.inputs

    @property
    def output(self) -> Output | None:
        """Table that the worktask writes to, if any."""
        return self.task.output

    @property
    def checks(self) -> tuple[Check, ...]:
        """Checks that run after the worktask."""
        return self.task.checks

    def parameters_of(self, text: str) -> dict[str, Value] | None:
        """Return the values of the parameters that a text uses, or None if it uses none."""
        return {name: self._require_value(name) for name in _list_parameters(text)} or None

    def _require_value(self, name: str) -> Value:
        if name not in self.values:
            raise InvalidInput(
                f"Task '{self.name}': the parameter ${name} does not exist.",
                remedy="Declare it under [parameters], or in `required`.",
            )
        return self.values[name]


def prepare_tasks(
    workbook: Workbook, names: Iterable[str], values: Mapping[str, Value]
) -> dict[str, PreparedTask]:
    """Prepare worktasks of a workbook. An InvalidInput names the task that cannot run."""
    return {name: _prepare_task(workbook, workbook.tasks[name], values) for name in names}


def _prepare_task(workbook: Workbook, task: Worktask, values: Mapping[str, Value]) -> PreparedTask:
    try:
        ready = replace(
            task,
            sql=None if task.sql is None else insert_sql_parameters(task.sql, values),
            inputs={name: _fill(one, values) for name, one in task.inputs.items()},
            output=None
            if task.output is None
            else _fill_output(task.output, values, workbook.folder),
            checks=tuple(_fill(one, values) for one in task.checks),
        )
        function = task.python
        if isinstance(function, str):
            function = load_function(function, workbook.folder)
        found = PreparedTask(ready, values, function, workbook.folder)
        _check_sql(found)
        if task.atomic or workbook.isolation is Isolation.TRANSACTION:
            _require_no_commits(found)
    except ForklakeError as error:
        if not error.message.startswith("Task "):
            error.message = f"Task '{task.name}': {error.message}"
        raise
    return found


def _fill_output(output: Output, values: Mapping[str, Value], folder: str) -> Output:
    found: Output = _fill(output, values)
    return found if found.delta is None else replace(found, delta=resolve_path(found.delta, folder))


def resolve_path(path: str, folder: str) -> str:
    """Resolve a path relative to the folder of the workbook. Addresses are not changed."""
    return path if "://" in path else str(Path(folder).absolute() / path)


def _fill(value: Any, values: Mapping[str, Value], is_sql: bool = False) -> Any:
    """Insert parameters into all texts of a value, recursively."""
    match value:
        case Enum():
            return value
        case str():
            return (
                insert_sql_parameters(value, values) if is_sql else insert_parameters(value, values)
            )
        case tuple() | list():
            return tuple(_fill(one, values, is_sql) for one in value)
        case Mapping():
            return {name: _fill(one, values) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            one.name: _fill(getattr(value, one.name), values, one.name in _SQL)
            for one in fields(value)
        }
        return replace(value, **changed)
    return value


def _check_sql(task: PreparedTask) -> None:
    """Parse all SQL and check its parameters. With an output, the SQL must be one query."""
    if task.task.sql is not None:
        statements = _parse(task.task.sql)
        task.parameters_of(task.task.sql)
        if task.output is not None:
            _require_query(statements, "The SQL of a task with an output")
    for check in task.checks:
        if check.sql is not None:
            _require_query(_parse(check.sql), "The SQL of a check")
            task.parameters_of(check.sql)


def _require_no_commits(task: PreparedTask) -> None:
    """Refuse BEGIN, COMMIT and ROLLBACK in a task that runs in one transaction."""
    for one in _parse(task.task.sql) if task.task.sql is not None else ():
        if isinstance(one, exp.Transaction | exp.Commit | exp.Rollback):
            raise InvalidInput(
                f"{one.key.upper()} is not allowed in a task that runs in one transaction.",
                remedy="Remove it, or set atomic = false and use the isolation fork.",
            )


def _require_query(statements: Sequence[exp.Expr], what: str) -> None:
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise InvalidInput(
            f"{what} must be one query.",
            remedy="Write one SELECT. Move statements into a task without an output.",
        )


def strip_statement(text: str) -> str:
    """Return SQL without surrounding comments and semicolons, to be put into parentheses."""
    tokens = [one for one in tokenize(text, read="duckdb") if one.token_type != _SEMICOLON]
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def _parse(text: str) -> list[exp.Expr]:
    from forklake.sql.dialect import parse

    found = parse(text, "duckdb")
    if not found:
        raise InvalidInput("The SQL is empty.", remedy="Write a statement.")
    return list(found)


def _list_parameters(text: str) -> list[str]:
    named = (one for each in _parse(text) for one in each.find_all(exp.Placeholder, exp.Parameter))
    return sorted({one.name for one in named})
