"""Parameters of a run: their values, and how they get into texts.

In SQL `$name` is a value. `${name}` is replaced in any text before it is read: in SQL, where it
stands for a name or a number, by nothing that could be more than that. `${env:NAME}` is a variable
of the environment, for what no report is to show; SQL never has it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from forklake.errors import InvalidInput, NotFound
from forklake.reagent.workbooks import Value, Workbook
from forklake.spark.names import perhaps

_MARK = re.compile(r"\$\{(env:)?([A-Za-z_]\w*)\}")
_PLAIN = re.compile(r"[\w.\-]*")


def values_of(workbook: Workbook, given: Mapping[str, Any], **own: str) -> dict[str, Value]:
    """The value of each parameter: as given, else by default; and those that every run has."""
    known = {*workbook.parameters, *workbook.required}
    for name in given:
        if name not in known:
            raise InvalidInput(
                f"Workbook '{workbook.name}' has no parameter '{name}'.",
                remedy=perhaps(name, known, what="parameters"),
            )
    missing = [name for name in workbook.required if name not in given]
    if missing:
        raise InvalidInput(
            f"Workbook '{workbook.name}' needs a value for {', '.join(missing)}.",
            remedy=f"Give --param {missing[0]}=VALUE.",
        )
    taken = {
        name: _like(name, value, workbook.parameters.get(name)) for name, value in given.items()
    }
    return {**own, **workbook.parameters, **taken}


def _like(name: str, value: Any, default: Value | None) -> Value:
    """A value of the kind that the default is of; without one, a text is what JSON has it for."""
    if not isinstance(value, str):
        return _checked(name, value)
    try:
        match default:
            case str():
                return value
            case datetime():
                return datetime.fromisoformat(value)
            case date():
                return date.fromisoformat(value)
            case None:
                return _from_json(value)
        found = json.loads(value)
        if type(found) is type(default) or (isinstance(default, float) and type(found) is int):
            return type(default)(found)
    except ValueError:
        pass
    raise InvalidInput(
        f"The parameter '{name}' cannot be {value!r}.",
        remedy=f"Give a {type(default).__name__}, such as {default}.",
    )


def _from_json(text: str) -> Value:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, bool | int | float) else text


def _checked(name: str, value: Any) -> Value:
    if isinstance(value, bool | int | float | str | date):
        return value
    raise InvalidInput(
        f"The parameter '{name}' cannot be a {type(value).__name__}.",
        remedy="Give a text, a number, a truth value or a date.",
    )


def filled(text: str, values: Mapping[str, Value]) -> str:
    """A text with values in the place of `${name}` and `${env:NAME}`."""

    def value(mark: re.Match[str]) -> str:
        return _variable(mark[2]) if mark[1] else str(_value(mark[2], values))

    return _MARK.sub(value, text)


def filled_sql(text: str, values: Mapping[str, Value]) -> str:
    """The same for SQL: only names and numbers are put into it."""

    def value(mark: re.Match[str]) -> str:
        found = str(_value(mark[2], values))
        if mark[1] or not _PLAIN.fullmatch(found):
            raise InvalidInput(
                f"The value of {mark[0]} cannot be put into SQL as it is.",
                remedy=f"Write ${mark[2]} where it is a value.",
            )
        return found

    return _MARK.sub(value, text)


def _value(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise InvalidInput(
            f"There is no parameter '{name}' for ${{{name}}}.",
            remedy=perhaps(name, values, what="parameters"),
        )
    return values[name]


def _variable(name: str) -> str:
    found = os.environ.get(name)
    if found is None:
        raise NotFound(
            f"The environment has no variable {name}, which the workbook asks for.",
            remedy=f"Set {name} before the run.",
        )
    return found
