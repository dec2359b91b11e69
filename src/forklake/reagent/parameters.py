"""Parameters of a run: their values, and their insertion into texts.

In SQL, `$name` is a parameter with a value. `${name}` is replaced in any text before it is parsed;
in SQL, only names and numbers may be inserted so, against injection. `${env:NAME}` is an
environment variable, for secrets that no report may show; it is refused in SQL.
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
from forklake.session.names import perhaps

_MARK = re.compile(r"\$\{(env:)?([A-Za-z_]\w*)\}")
_PLAIN = re.compile(r"[\w.\-]*")


def resolve_parameters(
    workbook: Workbook, given: Mapping[str, Any], **own: str
) -> dict[str, Value]:
    """Return the values of all parameters: given ones, then defaults, and those of every run."""
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
            remedy=f"Pass --param {missing[0]}=VALUE.",
        )
    taken = {
        name: _convert(name, value, workbook.parameters.get(name)) for name, value in given.items()
    }
    return {**own, **workbook.parameters, **taken}


def _convert(name: str, value: Any, default: Value | None) -> Value:
    """Convert a value to the type of the default. Without one, decode a text as JSON."""
    if not isinstance(value, str):
        return _require_type(name, value)
    try:
        match default:
            case str():
                return value
            case datetime():
                return datetime.fromisoformat(value)
            case date():
                return date.fromisoformat(value)
            case None:
                return _decode_json(value)
        found = json.loads(value)
        if type(found) is type(default) or (isinstance(default, float) and type(found) is int):
            return type(default)(found)
    except ValueError:
        pass
    raise InvalidInput(
        f"The parameter '{name}' cannot be {value!r}.",
        remedy=f"Use a value of type {type(default).__name__}, such as {default}.",
    )


def _decode_json(text: str) -> Value:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, bool | int | float) else text


def _require_type(name: str, value: Any) -> Value:
    if isinstance(value, bool | int | float | str | date):
        return value
    raise InvalidInput(
        f"The parameter '{name}' cannot be a {type(value).__name__}.",
        remedy="Use a text, a number, a boolean or a date.",
    )


def insert_parameters(text: str, values: Mapping[str, Value]) -> str:
    """Return a text with `${name}` and `${env:NAME}` replaced by values."""

    def value(mark: re.Match[str]) -> str:
        return _read_environment(mark[2]) if mark[1] else str(_require_value(mark[2], values))

    return _MARK.sub(value, text)


def insert_sql_parameters(text: str, values: Mapping[str, Value]) -> str:
    """Return SQL with `${name}` replaced by values, which must be names or numbers."""

    def value(mark: re.Match[str]) -> str:
        found = str(_require_value(mark[2], values))
        if mark[1] or not _PLAIN.fullmatch(found):
            raise InvalidInput(
                f"{mark[0]} cannot be inserted into SQL: only parameters that are names or numbers"
                " can be.",
                remedy=f"Write ${mark[2]} to use it as a value.",
            )
        return found

    return _MARK.sub(value, text)


def _require_value(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise InvalidInput(
            f"The parameter '{name}' of ${{{name}}} does not exist.",
            remedy=perhaps(name, values, what="parameters"),
        )
    return values[name]


def _read_environment(name: str) -> str:
    found = os.environ.get(name)
    if found is None:
        raise NotFound(
            f"The environment variable {name}, which the workbook uses, is not set.",
            remedy=f"Set {name} before the run.",
        )
    return found
