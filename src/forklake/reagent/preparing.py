"""Worktasks made ready: parameters in their texts, functions found, SQL that can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from sqlglot import exp, tokenize
from sqlglot.tokenizer_core import TokenType

from forklake.errors import ForklakeError, InvalidInput
from forklake.reagent.loading import function_of
from forklake.reagent.parameters import filled, filled_sql
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
# Keys whose texts are SQL, or names in it.
_SQL = frozenset({"sql", "where", "table", "query"})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A worktask that can be run."""

    task: Worktask
    values: Mapping[str, Value]
    function: Callable[..., Any] | None
    folder: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.task.name

    @property
    def inputs(self) -> Mapping[str, Input]:
        """What it reads."""
        return self.task.inputs

    @property
    def output(self) -> Output | None:
        """Where its rows go."""
        return self.task.output

    @property
    def checks(self) -> tuple[Check, ...]:
        """What must hold afterwards."""
        return self.task.checks

    def parameters_of(self, text: str) -> dict[str, Value] | None:
        """The values of the parameters that a text names."""
        return {name: self._value(name) for name in _parameters(text)} or None

    def _value(self, name: str) -> Value:
        if name not in self.values:
            raise InvalidInput(
                f"Task '{self.name}': there is no parameter ${name}.",
                remedy="Declare it under [parameters], or in `required`.",
            )
        return self.values[name]


def prepare(
    workbook: Workbook, names: Iterable[str], values: Mapping[str, Value]
) -> dict[str, Prepared]:
    """Worktasks of a workbook; InvalidInput, which names the task, if one cannot be run."""
    return {name: _prepared(workbook, workbook.tasks[name], values) for name in names}


def _prepared(workbook: Workbook, task: Worktask, values: Mapping[str, Value]) -> Prepared:
    try:
        ready = replace(
            task,
            sql=None if task.sql is None else filled_sql(task.sql, values),
            inputs={name: _filled(one, values) for name, one in task.inputs.items()},
            output=None if task.output is None else _output(task.output, values, workbook.folder),
            checks=tuple(_filled(one, values) for one in task.checks),
        )
        function = task.python
        if isinstance(function, str):
            function = function_of(function, workbook.folder)
        found = Prepared(ready, values, function, workbook.folder)
        _check_sql(found)
        if task.atomic or workbook.isolation is Isolation.TRANSACTION:
            _require_no_commits(found)
    except ForklakeError as error:
        if not error.message.startswith("Task "):
            error.message = f"Task '{task.name}': {error.message}"
        raise
    return found


def _output(output: Output, values: Mapping[str, Value], folder: str) -> Output:
    found: Output = _filled(output, values)
    return found if found.delta is None else replace(found, delta=located(found.delta, folder))


def located(path: str, folder: str) -> str:
    """A path from the folder of the workbook, unless it says where it begins."""
    return path if "://" in path else str(Path(folder).absolute() / path)


def _filled(value: Any, values: Mapping[str, Value], is_sql: bool = False) -> Any:
    """A value with parameters in all of its texts."""
    match value:
        case Enum():
            return value
        case str():
            return filled_sql(value, values) if is_sql else filled(value, values)
        case tuple() | list():
            return tuple(_filled(one, values, is_sql) for one in value)
        case Mapping():
            return {name: _filled(one, values) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            one.name: _filled(getattr(value, one.name), values, one.name in _SQL)
            for one in fields(value)
        }
        return replace(value, **changed)
    return value


def _check_sql(task: Prepared) -> None:
    """All SQL can be read and has its parameters; what has an output is one query."""
    if task.task.sql is not None:
        statements = _parsed(task.task.sql)
        task.parameters_of(task.task.sql)
        if task.output is not None:
            _require_query(statements, "what has an output")
    for check in task.checks:
        if check.sql is not None:
            _require_query(_parsed(check.sql), "the sql of a check")
            task.parameters_of(check.sql)


def _require_no_commits(task: Prepared) -> None:
    """What is done as a whole cannot be committed in the middle of it."""
    for one in _parsed(task.task.sql) if task.task.sql is not None else ():
        if isinstance(one, exp.Transaction | exp.Commit | exp.Rollback):
            raise InvalidInput(
                f"{one.key.upper()} is not for a task that is one transaction already.",
                remedy="Leave it out, or say atomic = false and isolate the run by a fork.",
            )


def _require_query(statements: Sequence[exp.Expr], what: str) -> None:
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise InvalidInput(
            f"{what} is one query.", remedy="Write a SELECT; statements go into a task's sql."
        )


def bare(text: str) -> str:
    """SQL that can be put into parentheses: without comments and semicolons around it."""
    tokens = [one for one in tokenize(text, read="duckdb") if one.token_type != _SEMICOLON]
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def _parsed(text: str) -> list[exp.Expr]:
    from forklake.sql.dialect import parse

    found = parse(text, "duckdb")
    if not found:
        raise InvalidInput("There is no statement in the text.", remedy="Write one.")
    return list(found)


def _parameters(text: str) -> list[str]:
    named = (one for each in _parsed(text) for one in each.find_all(exp.Placeholder, exp.Parameter))
    return sorted({one.name for one in named})
