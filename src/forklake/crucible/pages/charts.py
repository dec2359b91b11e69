"""Geometry of charts, which templates draw as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log10

WIDTH, HEIGHT = 360, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 6, 8, 20
_STEPS = (1, 1.2, 1.6, 2, 4, 6, 8, 10)  # round numbers whose halves are round too


@dataclass(frozen=True, slots=True)
class Tick:
    """Grid line with its value."""

    y: float
    value: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Step curve from left to right: each value holds until the next point."""

    path: str
    area: str
    ticks: tuple[Tick, ...]
    first: str
    last: str
    end: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar of a histogram with its count."""

    x: float
    y: float
    width: float
    height: float
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Bars:
    """Histogram."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


def draw_curve(points: Sequence[tuple[float, float]], *, first: str, last: str) -> Curve:
    """Return a step curve through points in x order. `first` and `last` label the ends."""
    begin, end = points[0][0], points[-1][0]
    top, ticks = _choose_scale(max(value for _, value in points))
    span = (end - begin) or 1.0

    def x(at: float) -> float:
        return round(_LEFT + (at - begin) / span * (WIDTH - _LEFT - _RIGHT), 1)

    places = [(x(at), _y_position(value, top)) for at, value in points]
    if len(places) == 1:  # a single value: draw a horizontal line
        places.append((WIDTH - _RIGHT, places[0][1]))
    steps = [f"M{places[0][0]} {places[0][1]}"]
    steps += [f"H{right[0]}V{right[1]}" for _, right in pairwise(places)]
    path = "".join(steps)
    area = f"{path}V{HEIGHT - _BOTTOM}H{places[0][0]}Z"
    return Curve(path, area, ticks, first, last, places[-1])


def draw_bars(counts: Sequence[tuple[str, int]]) -> Bars:
    """Return a histogram of labeled counts."""
    top, ticks = _choose_scale(max((count for _, count in counts), default=0))
    step = (WIDTH - _LEFT - _RIGHT) / max(len(counts), 1)
    drawn = []
    for place, (label, count) in enumerate(counts):
        y = _y_position(count, top)
        x, width = _LEFT + place * step + step * 0.12, step * 0.76
        drawn.append(Bar(round(x, 1), y, round(width, 1), HEIGHT - _BOTTOM - y, label, count))
    return Bars(tuple(drawn), ticks)


def _y_position(value: float, top: float) -> float:
    return round(HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM), 1)


def _choose_scale(greatest: float) -> tuple[float, tuple[Tick, ...]]:
    """Return a round maximum for the axis, not below `greatest`, and up to three grid lines."""
    if greatest <= 0:
        return 1.0, (Tick(_y_position(0, 1), 0.0),)
    unit = 10.0 ** (ceil(log10(greatest)) - 1)
    top = next(unit * step for step in _STEPS if unit * step >= greatest)
    return top, tuple(Tick(_y_position(value, top), value) for value in (0.0, top / 2, top))
