"""Workbooks of parallel worktasks, and automations that run them.

The names below are imported on first use: reading workbooks needs pydantic and reports need Jinja,
but a Python workbook needs neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forklake.reagent.decorators import worktask
    from forklake.reagent.local import LocalPlace
    from forklake.reagent.reports import RunReport
    from forklake.reagent.run_plan import plan_run
    from forklake.reagent.served import ServedPlace
    from forklake.reagent.workbook_files import load_workbook, make_workbook
    from forklake.reagent.workbook_run import run_workbook
    from forklake.reagent.workbooks import Isolation, Workbook

_PLACES = {
    "Isolation": "workbooks",
    "LocalPlace": "local",
    "RunReport": "reports",
    "ServedPlace": "served",
    "Workbook": "workbooks",
    "load_workbook": "workbook_files",
    "make_workbook": "workbook_files",
    "plan_run": "run_plan",
    "run_workbook": "workbook_run",
    "worktask": "decorators",
}

__all__ = [
    "Isolation",
    "LocalPlace",
    "RunReport",
    "ServedPlace",
    "Workbook",
    "load_workbook",
    "make_workbook",
    "plan_run",
    "run_workbook",
    "worktask",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
