"""Figures: measured numbers, each with its baseline, ratio and target."""

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
        """Return the figure as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Choice between a full and a quick run."""

    quick: bool = False

    def size(self, full: int, quick: int) -> int:
        """Return `full` or, in a quick run, `quick`."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Setting(Sizes):
    """Server and size for benchmarks of the metastore."""

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
    """Return a figure. A target such as `≥ 0.7` refers to the ratio, or else to the value."""
    met = None
    if target:
        comparison, limit = target.split()[:2]
        subject = value if ratio is None else ratio
        met = _COMPARISONS[comparison](subject, float(limit))
    return Figure(name, _short(value), unit, _short(baseline), _short(ratio), target, met)


def _short(value: float | None) -> Any:
    """Round to four significant digits: more would be noise."""
    return None if value is None else float(f"{value:.4g}")


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def read_figures(path: Path) -> list[Figure]:
    """Read the figures of earlier runs."""
    if not path.exists():
        return []
    return [Figure(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def keep_figures(path: Path, figures: Iterable[Figure]) -> None:
    """Write figures to a file. Those with the same name are replaced, others are kept."""
    fresh = {one.figure: one for one in figures}
    kept = [fresh.pop(one.figure, one) for one in read_figures(path)]
    write_figures(path, [*kept, *fresh.values()])


def write_figures(path: Path, figures: Iterable[Figure]) -> None:
    """Write figures to a file, one per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(one.line() + "\n" for one in figures), "utf-8")
