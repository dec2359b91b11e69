"""Loader of workbooks from TOML files and from Python files with decorated functions."""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from forklake.errors import ForklakeError, InvalidInput, NotFound
from forklake.reagent.decorators import worktasks_of
from forklake.reagent.graphs import build_graph
from forklake.reagent.workbooks import Workbook

VARIABLE = "workbook"  # variable of a Python workbook with the keys besides its tasks


def load_workbook(path: str | Path) -> Workbook:
    """Load the workbook of a file. InvalidInput names the file, the task and the invalid key."""
    file = Path(path)
    readers: dict[str, Callable[[Path], Mapping[str, Any]]] = {
        ".toml": _read_toml,
        ".py": _read_python,
    }
    if file.suffix not in readers:
        raise InvalidInput(
            f"The file '{path}' is not a workbook.",
            remedy="Use a file that ends in .toml or .py.",
        )
    if not file.is_file():
        raise NotFound(f"The file '{path}' does not exist.", remedy="Pass the path of a workbook.")
    document = {"name": file.stem, "folder": str(file.parent), **readers[file.suffix](file)}
    return make_workbook(document, str(path))


def make_workbook(document: Mapping[str, Any], source: str = "workbook") -> Workbook:
    """Return the workbook that a document describes. Errors refer to it as `source`."""
    tasks = document.get("tasks")
    if isinstance(tasks, Mapping):
        named = {
            name: {"name": name, **task} if isinstance(task, Mapping) else task
            for name, task in tasks.items()
        }
        document = {**document, "tasks": named}
    try:
        workbook = _adapter().validate_python(document)
    except ValidationError as reason:
        raise _describe_error(reason, source) from None
    build_graph(workbook)  # raises for unknown names and cycles
    return workbook


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Workbook]:
    return TypeAdapter(Workbook)


def _read_toml(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise InvalidInput(
            f"The workbook '{file}' is not valid TOML: {reason}.",
            remedy="Correct the file.",
        ) from None


def _read_python(file: Path) -> Mapping[str, Any]:
    names = _run_file(file)
    document = names.get(VARIABLE, {})
    if not isinstance(document, Mapping):
        raise InvalidInput(
            f"The variable `{VARIABLE}` of '{file}' is not a mapping.",
            remedy=f"Write {VARIABLE} = {{'catalog': 'sales'}}.",
        )
    return {**document, "tasks": {**document.get("tasks", {}), **worktasks_of(names)}}


def _run_file(file: Path) -> dict[str, Any]:
    """Run a Python file and return the names that it defines."""
    try:
        return runpy.run_path(str(file))
    except ForklakeError:
        raise
    except (Exception, SystemExit) as reason:
        raise InvalidInput(
            f"The file '{file}' failed to run: {type(reason).__name__}: {reason}.",
            remedy="Correct it: at import it must only define functions and values.",
        ) from reason


def load_function(reference: str, folder: str) -> Callable[..., Any]:
    """Return the function of a reference `file.py:function` relative to the workbook."""
    file, colon, name = reference.rpartition(":")
    path = Path(folder, file)
    if not colon or not file or not path.is_file():
        raise InvalidInput(
            f"The reference {reference!r} does not name an existing Python file.",
            remedy="Write file.py:function, with a path relative to the workbook.",
        )
    found = _run_file(path).get(name)
    if not callable(found):
        raise InvalidInput(
            f"The file '{path}' has no function '{name}'.",
            remedy="Name a function that the file defines.",
        )
    return cast("Callable[..., Any]", found)


def _describe_error(reason: ValidationError, source: str) -> InvalidInput:
    """Return an error for the first problem, with its task and key."""
    first = reason.errors(include_input=False, include_url=False)[0]
    place = [str(part) for part in first["loc"]]
    where = [f"workbook '{source}'"]
    if place[:1] == ["tasks"] and len(place) > 1:
        where.append(f"task '{place[1]}'")
        place = place[2:]
    if place:
        where.append(f"key '{'.'.join(place)}'")
    message = first["msg"].removeprefix("Value error, ")
    location = ", ".join(where)
    return InvalidInput(
        f"{location[0].upper()}{location[1:]}: {message}.",
        remedy="See docs/workbooks.md for all keys.",
    )
