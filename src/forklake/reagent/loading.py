"""Workbooks from files: TOML, or Python whose decorated functions are worktasks."""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from forklake.errors import ForklakeError, InvalidInput, NotFound
from forklake.reagent.decorating import worktasks_of
from forklake.reagent.graphs import graph_of
from forklake.reagent.workbooks import Workbook

VARIABLE = "workbook"  # of a Python workbook: what a TOML file would say besides its tasks


def load_workbook(path: str | Path) -> Workbook:
    """The workbook of a file; InvalidInput names the file, the task and the key that is wrong."""
    file = Path(path)
    readers: dict[str, Callable[[Path], Mapping[str, Any]]] = {".toml": _toml, ".py": _python}
    if file.suffix not in readers:
        raise InvalidInput(
            f"The file '{path}' is no workbook.", remedy="Name one that ends with .toml or .py."
        )
    if not file.is_file():
        raise NotFound(f"There is no file '{path}'.", remedy="Name the file of a workbook.")
    said = {"name": file.stem, "folder": str(file.parent), **readers[file.suffix](file)}
    return make_workbook(said, str(path))


def make_workbook(said: Mapping[str, Any], source: str = "workbook") -> Workbook:
    """The workbook that a document describes; `source` is what errors call it."""
    tasks = said.get("tasks")
    if isinstance(tasks, Mapping):
        named = {
            name: {"name": name, **task} if isinstance(task, Mapping) else task
            for name, task in tasks.items()
        }
        said = {**said, "tasks": named}
    try:
        workbook = _adapter().validate_python(said)
    except ValidationError as reason:
        raise _explained(reason, source) from None
    graph_of(workbook)  # or says what is wrong with it
    return workbook


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Workbook]:
    return TypeAdapter(Workbook)


def _toml(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise InvalidInput(
            f"The workbook '{file}' is not TOML: {reason}.", remedy="Mend it."
        ) from None


def _python(file: Path) -> Mapping[str, Any]:
    names = _names_of(file)
    said = names.get(VARIABLE, {})
    if not isinstance(said, Mapping):
        raise InvalidInput(
            f"The variable `{VARIABLE}` of '{file}' is no mapping.",
            remedy=f"Write {VARIABLE} = {{'catalog': 'sales'}}.",
        )
    return {**said, "tasks": {**said.get("tasks", {}), **worktasks_of(names)}}


def _names_of(file: Path) -> dict[str, Any]:
    """What a Python file defines when it is run."""
    try:
        return runpy.run_path(str(file))
    except ForklakeError:
        raise
    except (Exception, SystemExit) as reason:
        raise InvalidInput(
            f"The file '{file}' cannot be run: {type(reason).__name__}: {reason}.",
            remedy="Mend it: running it must only define things.",
        ) from reason


def function_of(reference: str, folder: str) -> Callable[..., Any]:
    """The function that a task names as `file.py:function`, below the workbook's folder."""
    file, colon, name = reference.rpartition(":")
    path = Path(folder, file)
    if not colon or not file or not path.is_file():
        raise InvalidInput(
            f"There is no Python file for {reference!r}.",
            remedy="Write file.py:function, with a path relative to the workbook.",
        )
    found = _names_of(path).get(name)
    if not callable(found):
        raise InvalidInput(
            f"The file '{path}' has no function '{name}'.", remedy="Name one that it has."
        )
    return cast("Callable[..., Any]", found)


def _explained(reason: ValidationError, source: str) -> InvalidInput:
    """The first thing that is wrong, by the task and the key that it is about."""
    first = reason.errors(include_input=False, include_url=False)[0]
    place = [str(part) for part in first["loc"]]
    where = [f"workbook '{source}'"]
    if place[:1] == ["tasks"] and len(place) > 1:
        where.append(f"task '{place[1]}'")
        place = place[2:]
    if place:
        where.append(f"key '{'.'.join(place)}'")
    said = first["msg"].removeprefix("Value error, ")
    told = ", ".join(where)
    return InvalidInput(
        f"{told[0].upper()}{told[1:]}: {said}.", remedy="See docs/workbooks.md for all keys."
    )
