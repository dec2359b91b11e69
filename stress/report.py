"""Report of a run: all numbers as JSON, a summary in Markdown, and plots."""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from stress.plots import draw
from stress.rounds import Round
from stress.sampling import Sample

# Growth of memory (MB) and of open files that is allowed once every scenario has run.
SLACK = {"driver_memory": 30.0, "files": 10}


@dataclass(frozen=True)
class Run:
    """Rounds and samples of one run of the suite."""

    rounds: Sequence[Round]
    samples: Sequence[Sample]

    @property
    def began(self) -> float:
        """Start time, to which all times are relative."""
        return self.rounds[0].began

    @property
    def seconds(self) -> float:
        """Duration of the run."""
        return self.rounds[-1].ended - self.began

    def problems(self) -> list[str]:
        """Return the problems of all rounds, and resources that grew over the rounds."""
        found = [f"round {one.number}: {what}" for one in self.rounds for what in one.problems]
        return [*found, *self._growth()]

    def _growth(self) -> list[str]:
        """Return resources that are held after the last round but not after the first cycle."""
        rests = [one.rest for one in self.rounds if one.rest is not None]
        early, late = rests[self._cycle() - 1], rests[-1]
        found = []
        for name, slack in SLACK.items():
            before, after = getattr(early, name), getattr(late, name)
            if after > before + slack:
                found.append(f"{name} grew from {before:.0f} to {after:.0f}")
        if late.connections:
            found.append(f"{late.connections} connections are open after all workers ended")
        return found

    def _cycle(self) -> int:
        """Return the number of rounds in which each scenario runs once on each backend."""
        return len({(one.scenario, one.backend) for one in self.rounds})

    def facts(self) -> dict[str, Any]:
        """Return the whole report for JSON."""
        return {
            "machine": f"{platform.system()}, {psutil.cpu_count()} cores",
            "python": platform.python_version(),
            "seconds": round(self.seconds, 1),
            "problems": self.problems(),
            "rounds": [vars(one) | {"rest": one.rest and asdict(one.rest)} for one in self.rounds],
            "samples": [asdict(one) for one in self.samples],
        }


def write_report(run: Run, folder: Path) -> None:
    """Write `stress.json`, `stress.md` and the plots to a folder, if there were any rounds."""
    if not run.rounds:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stress.json").write_text(json.dumps(run.facts(), indent=1, default=str), "utf-8")
    (folder / "stress.md").write_text(_page(run), "utf-8")
    draw(run.rounds, run.samples, run.began, folder / "stress.png")


def _page(run: Run) -> str:
    faults = Counter(one.what for found in run.rounds for one in found.faults)
    problems = run.problems()
    parts = [
        "# Run of the stress suite",
        f"{len(run.rounds)} rounds in {run.seconds / 60:.0f} minutes on"
        f" {psutil.cpu_count()} cores, {sum(faults.values())} faults,"
        f" {len(problems)} problems.",
        "![Throughput, times, memory, connections and faults](stress.png)",
        _table(
            ("Scenario", "Metastore", "Rounds", "Operations", "Refused", "Unanswered", "Problems"),
            _scenario_rows(run.rounds),
        ),
        _table(("Operation", "Count", "Median ms", "Largest p99 ms"), _operation_rows(run.rounds)),
        _table(("Fault", "Times"), sorted(faults.items())),
        _table(("Resource", "After the first round", "Maximum", "After the last"), _held_rows(run)),
        _worktasks(run.rounds),
        "## Problems\n\n" + ("\n".join(f"- {one}" for one in problems) or "None."),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _scenario_rows(rounds: Sequence[Round]) -> list[Sequence[Any]]:
    groups: dict[tuple[str, str], list[Round]] = defaultdict(list)
    for one in rounds:
        groups[one.scenario, one.backend].append(one)
    return [
        (
            scenario,
            backend,
            len(several),
            *_outcomes(several),
            sum(len(one.problems) for one in several),
        )
        for (scenario, backend), several in groups.items()
    ]


# Outcomes of operations that a concurrent transaction refused. All but these and "ok" are unknown.
_REFUSED = ("Conflict", "failed")


def _outcomes(rounds: Sequence[Round]) -> tuple[int, int, int]:
    total: Counter[str] = Counter()
    for one in rounds:
        for outcomes in one.operations.values():
            total.update(outcomes)
    refused = sum(total[name] for name in _REFUSED)
    return total["ok"], refused, total.total() - total["ok"] - refused


def _operation_rows(rounds: Sequence[Round]) -> list[Sequence[Any]]:
    counts: Counter[str] = Counter()
    times: dict[str, list[dict[str, float]]] = defaultdict(list)
    for one in rounds:
        for kind, told in one.milliseconds.items():
            name = f"{one.scenario}: {kind} ({one.backend})"
            counts[name] += one.operations[kind]["ok"]
            times[name].append(told)
    return [(name, counts[name], *_summary(several)) for name, several in sorted(times.items())]


def _summary(several: Sequence[dict[str, float]]) -> tuple[float, float]:
    medians = sorted(one["p50"] for one in several)
    return medians[len(medians) // 2], max(one["p99"] for one in several)


def _held_rows(run: Run) -> list[Sequence[Any]]:
    """Return the resources held after the first round, at most, and after the last round."""
    rests = [one.rest for one in run.rounds if one.rest is not None]
    rows: list[Sequence[Any]] = []
    for name, title in (
        ("driver_memory", "Memory of the driver, MB"),
        ("worker_memory", "Memory of the largest worker, MB"),
        ("connections", "Connections to PostgreSQL"),
        ("files", "Open files of the driver"),
    ):
        most = max(getattr(one, name) or 0 for one in [*run.samples, *rests])
        first, last = (getattr(one, name) or 0 for one in (rests[0], rests[-1]))
        rows.append((title, *(round(one) for one in (first, most, last))))
    return rows


def _worktasks(rounds: Sequence[Round]) -> str:
    """Return a section about the worktasks of the last round that had some."""
    for one in reversed(rounds):
        if tasks := one.facts.get("tasks"):
            title = f"## Worktasks of round {one.number} ({one.backend})"
            rows = [[_cell(value) for value in task.values()] for task in tasks]
            return f"{title}\n\n{_table([name.capitalize() for name in tasks[0]], rows)}"
    return ""


def _cell(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
