"""Report of a run as one self-contained HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from forklake.reagent.reports import RunReport, TaskReport

_STEPS = (1, 2, 5)
_MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class TaskBar:
    """Bar of a worktask in the chart. Its left end and its width are percentages."""

    task: TaskReport
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Chart of when each worktask ran, with tick marks."""

    bars: list[TaskBar]
    ticks: list[tuple[float, str]]


def render_page(report: RunReport) -> str:
    """Render the report as HTML."""
    environment = Environment(
        loader=PackageLoader("forklake.reagent"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"seconds": _format_seconds, "time": _format_time}
    template = environment.get_template("report.html")
    return template.render(run=report, chart=build_chart(report), failure=report.failure())


def build_chart(report: RunReport) -> Chart:
    """Return the chart of the worktasks that ran, ordered by their start."""
    ran = [one for one in report.tasks.values() if one.began is not None]
    total = (
        max([(_seconds_since_start(report, one.ended) or 0.0) for one in ran], default=0.0) or 1.0
    )
    bars = [
        TaskBar(one, 100 * start / total, max(0.4, 100 * one.seconds / total))
        for start, one in sorted(
            ((_seconds_since_start(report, one.began) or 0.0, one) for one in ran),
            key=lambda each: each[0],
        )
    ]
    step = _tick_distance(total)
    marks = [step * number for number in range(int(total / step) + 1)]
    return Chart(bars, [(100 * mark / total, f"{mark:g} s") for mark in marks])


def _seconds_since_start(report: RunReport, moment: datetime | None) -> float | None:
    return None if moment is None else (moment - report.began).total_seconds()


def _tick_distance(total: float) -> float:
    """Return the distance between tick marks: 1, 2 or 5 times a power of ten."""
    size = 0.001
    while True:
        for one in _STEPS:
            if total / (one * size) <= _MOST_TICKS:
                return one * size
        size *= 10


def _format_seconds(value: float) -> str:
    return f"{value:,.2f} s"


def _format_time(value: Any) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"
