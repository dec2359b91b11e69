"""Plots of a run over time: throughput, latencies, memory, connections and faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stress.faults import FAULTS
from stress.rounds import SCENARIOS, Round
from stress.sampling import Sample

_COLORS = dict(zip(SCENARIOS, ("#2a6f97", "#d98f4e", "#468466", "#8d5b9a", "#b04a4a"), strict=True))
_MINUTE = 60.0


def draw(rounds: Sequence[Round], samples: Sequence[Sample], began: float, path: Path) -> None:
    """Draw all plots above one time axis."""
    figure = Figure(figsize=(11, 13), layout="constrained")
    panels: tuple[tuple[str, Callable[[Axes], None]], ...] = (
        ("Operations per second", lambda axes: _throughput(axes, rounds, began)),
        ("Latency in milliseconds, median to p99", lambda axes: _times(axes, rounds, began)),
        ("Memory, MB", lambda axes: _memory(axes, samples, began)),
        ("Connections to PostgreSQL", lambda axes: _connections(axes, samples, began)),
        ("Faults", lambda axes: _faults(axes, rounds, began)),
    )
    every = figure.subplots(len(panels), 1, sharex=True)
    for axes, (title, paint) in zip(every, panels, strict=True):
        paint(axes)
        axes.set_title(title, loc="left", fontweight="bold")
        axes.spines[["top", "right"]].set_visible(False)
    every[-1].set_xlabel("minutes")
    figure.savefig(path, dpi=90)


def _throughput(axes: Axes, rounds: Sequence[Round], began: float) -> None:
    shown: set[str] = set()
    for one in rounds:
        seconds = sorted(one.throughput)
        at = [(one.began - began + second) / _MINUTE for second in seconds]
        label = None if one.scenario in shown else one.scenario
        axes.plot(
            at,
            [one.throughput[second] for second in seconds],
            lw=0.8,
            color=_COLORS[one.scenario],
            label=label,
        )
        shown.add(one.scenario)
    axes.set_yscale("log")
    axes.legend(frameon=False, ncols=len(_COLORS), fontsize="small")


def _times(axes: Axes, rounds: Sequence[Round], began: float) -> None:
    """Draw a line for each round, from the median of its most frequent operation to its p99."""
    for one in rounds:
        if not one.milliseconds:
            continue
        kind = max(one.milliseconds, key=lambda name: one.operations[name]["ok"])
        told, at = one.milliseconds[kind], (one.began - began) / _MINUTE
        axes.vlines(at, told["p50"], told["p99"], color=_COLORS[one.scenario], lw=1)
        axes.plot(at, told["p50"], marker="o", ms=3, color=_COLORS[one.scenario])
    axes.set_yscale("log")


def _memory(axes: Axes, samples: Sequence[Sample], began: float) -> None:
    at = [(one.at - began) / _MINUTE for one in samples]
    axes.plot(at, [one.driver_memory for one in samples], color="#333333", label="driver")
    busy = [one for one in samples if one.workers]
    axes.plot(
        [(one.at - began) / _MINUTE for one in busy],
        [one.worker_memory for one in busy],
        ".",
        ms=2,
        color="#2a6f97",
        label="largest worker",
    )
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize="small")


def _connections(axes: Axes, samples: Sequence[Sample], began: float) -> None:
    known = [(one.at, one.connections) for one in samples if one.connections is not None]
    at = [(moment - began) / _MINUTE for moment, _ in known]
    axes.plot(at, [count for _, count in known], lw=0.8, color="#468466")


def _faults(axes: Axes, rounds: Sequence[Round], began: float) -> None:
    moments: dict[str, list[float]] = defaultdict(list)
    for found in rounds:
        for one in found.faults:
            moments[one.what].append((one.began - began) / _MINUTE)
    for place, name in enumerate(FAULTS):
        axes.plot(moments[name], [place] * len(moments[name]), "|", ms=9, color="#b04a4a")
    axes.set_yticks(range(len(FAULTS)), list(FAULTS))
