"""Figures: one measured number each, what it is compared with, and whether that is good enough."""

from __future__ import annotations

import json
import operator
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.server import Server

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the results."""

    figure: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    def line(self) -> str:
        """The figure as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """At what size to measure."""

    quick: bool = False

    def size(self, full: int, quick: int) -> int:
        """One number for a full run and another for a quick one."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Setting(Sizes):
    """Where and at what size to measure the metastore."""

    server: Server
    index_scans: dict[str, int] = field(default_factory=dict)


def figure(
    name: str,
    value: float,
    unit: str,
    *,
    baseline: float | None = None,
    ratio: float | None = None,
    target: str = "",
) -> Figure:
    """A figure; the target, such as `≥ 0.7`, is for the ratio if there is one."""
    met = None
    if target:
        comparison, limit = target.split()[:2]
        subject = value if ratio is None else ratio
        met = _COMPARISONS[comparison](subject, float(limit))
    return Figure(name, _short(value), unit, _short(baseline), _short(ratio), target, met)


def _short(value: float | None) -> Any:
    """Four significant digits: more would be noise."""
    return None if value is None else float(f"{value:.4g}")


def median(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def read_figures(path: Path) -> list[Figure]:
    """The figures of earlier runs."""
    if not path.exists():
        return []
    return [Figure(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def keep_figures(path: Path, figures: Iterable[Figure]) -> None:
    """Put figures in the place of those of an earlier run."""
    fresh = {one.figure: one for one in figures}
    kept = [fresh.pop(one.figure, one) for one in read_figures(path)]
    write_figures(path, [*kept, *fresh.values()])


def write_figures(path: Path, figures: Iterable[Figure]) -> None:
    """Keep figures, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one.line() + "\n" for one in figures), "utf-8")
