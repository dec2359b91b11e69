"""The report of a run as one page of HTML, which needs nothing besides itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from forklake.reagent.reports import RunReport, TaskReport

_STEPS = (1, 2, 5)
_MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """A worktask in the chart: where it begins, and how wide it is, in hundredths."""

    task: TaskReport
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """When each worktask ran."""

    bars: list[Bar]
    ticks: list[tuple[float, str]]


def page(report: RunReport) -> str:
    """The report, for people."""
    environment = Environment(
        loader=PackageLoader("forklake.reagent"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"seconds": _seconds, "time": _time}
    template = environment.get_template("report.html")
    return template.render(run=report, chart=chart(report), failure=report.failure())


def chart(report: RunReport) -> Chart:
    """The worktasks that ran, in the order of their beginnings, over the time of the run."""
    ran = [one for one in report.tasks.values() if one.began is not None]
    total = max([(_since(report, one.ended) or 0.0) for one in ran], default=0.0) or 1.0
    bars = [
        Bar(one, 100 * start / total, max(0.4, 100 * one.seconds / total))
        for start, one in sorted(
            ((_since(report, one.began) or 0.0, one) for one in ran), key=lambda each: each[0]
        )
    ]
    step = _step(total)
    marks = [step * number for number in range(int(total / step) + 1)]
    return Chart(bars, [(100 * mark / total, f"{mark:g} s") for mark in marks])


def _since(report: RunReport, moment: datetime | None) -> float | None:
    return None if moment is None else (moment - report.began).total_seconds()


def _step(total: float) -> float:
    """The distance between marks: one, two or five of a power of ten."""
    size = 0.001
    while True:
        for one in _STEPS:
            if total / (one * size) <= _MOST_TICKS:
                return one * size
        size *= 10


def _seconds(value: float) -> str:
    return f"{value:,.2f} s"


def _time(value: Any) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"
