"""The report of a run, with its problems and growing resources."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from stress.faults import Happened
from stress.report import Run, write_report
from stress.rounds import Round
from stress.sampling import Sample, Sampler


def at_rest(number: int, *, memory: float = 100.0, connections: int = 0) -> Sample:
    return Sample(10.0 * number + 9, memory, 0, 0.0, connections, 12)


def a_round(number: int, rest: Sample, *problems: str) -> Round:
    """Return a round of ten seconds."""
    return Round(
        number,
        "worktasks",
        "postgresql",
        began=10.0 * number,
        ended=10.0 * number + 8,
        faults=[Happened("killed worker", 10.0 * number + 1, 10.0 * number + 2)],
        operations={"step": Counter(ok=100, Conflict=3, Unavailable=2)},
        milliseconds={"step": {"p50": 4.0, "p99": 40.0, "max": 90.0}},
        throughput=Counter({1: 60, 2: 40}),
        facts={"tasks": [{"task": 0, "sessions": [41, 42], "seconds": 1.5}]},
        problems=list(problems),
        rest=rest,
    )


def busy(number: int) -> Sample:
    return Sample(10.0 * number + 4, 110.0, 8, 80.0, 9, 20)


def test_a_report_is_written(tmp_path: Path) -> None:
    rounds = [a_round(0, at_rest(0)), a_round(1, at_rest(1), "something is gone")]
    write_report(Run(rounds, [busy(0), busy(1)]), tmp_path)
    reported = json.loads((tmp_path / "stress.json").read_text())
    assert reported["problems"] == ["round 1: something is gone"]
    assert [one["operations"]["step"]["ok"] for one in reported["rounds"]] == [100, 100]
    page = (tmp_path / "stress.md").read_text()
    assert "2 rounds in 0 minutes" in page
    assert "| worktasks | postgresql | 2 | 200 | 6 | 4 | 1 |" in page
    assert "| worktasks: step (postgresql) | 200 | 4.0 | 40.0 |" in page
    assert "| killed worker | 2 |" in page
    assert "| Connections to PostgreSQL | 0 | 9 | 0 |" in page
    assert "| 0 | 41 42 | 1.5 |" in page
    assert "- round 1: something is gone" in page
    assert (tmp_path / "stress.png").stat().st_size > 10_000


def test_resources_that_grow_over_a_run_are_problems() -> None:
    steady = [a_round(number, at_rest(number)) for number in range(6)]
    assert Run(steady, [busy(0)]).problems() == []
    fat = [a_round(one, at_rest(one, memory=100.0 + 30 * one)) for one in range(6)]
    assert Run(fat, [busy(0)]).problems() == ["driver_memory grew from 100 to 250"]
    held = [a_round(number, at_rest(number, connections=2)) for number in range(6)]
    assert Run(held, [busy(0)]).problems() == ["2 connections are open after all workers ended"]


def test_no_report_is_written_without_rounds(tmp_path: Path) -> None:
    write_report(Run([], []), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_resources_of_a_round_may_be_released_late(tmp_path: Path) -> None:
    sampler, many = Sampler(None), 100  # so many that other files do not matter
    most = sampler.at_rest().files + many // 2
    with ExitStack() as held:
        for number in range(many):
            held.enter_context((tmp_path / str(number)).open("w"))
        assert sampler.taken().files > most
        closing = threading.Timer(0.2, held.pop_all().close)
    closing.start()
    assert sampler.at_rest().files < most
    closing.join()
