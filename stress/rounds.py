"""Rounds: one scenario in a fresh environment, with faults, and the result; plans of rounds."""

from __future__ import annotations

import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from random import Random
from typing import Any

from tests.concurrency.consistency import problems as contradictions

from stress.crews import Crew, Record, read_journals, warm_up
from stress.faults import Happened, Mischief, Scene, await_server
from stress.grounds import Server, fresh_ground
from stress.sampling import Sample, Sampler
from stress.scenarios.forks import Forks
from stress.scenarios.garbage import Garbage
from stress.scenarios.scenario import Scenario, Size
from stress.scenarios.service import Service
from stress.scenarios.transactions import Transactions
from stress.scenarios.worktasks import Worktasks

SCENARIOS: dict[str, type[Scenario]] = {
    one.name: one for one in (Transactions, Worktasks, Forks, Garbage, Service)
}


@dataclass
class Round:
    """Result of a round: operations by kind and outcome, latencies, faults and problems."""

    number: int
    scenario: str
    backend: str
    began: float
    ended: float = 0.0
    faults: list[Happened] = field(default_factory=list)
    operations: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    milliseconds: dict[str, dict[str, float]] = field(default_factory=dict)
    throughput: Counter[int] = field(default_factory=Counter)  # by second of the round
    facts: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    rest: Sample | None = None  # resources held after the round

    def line(self) -> str:
        """Return a summary in one line."""
        done = sum(outcomes["ok"] for outcomes in self.operations.values())
        what = "; ".join(self.problems)[:2000] or "no problems"
        return (
            f"{self.number:4} {self.scenario:12} {self.backend:10} {self.ended - self.began:6.1f} s"
            f" {done:7} operations {len(self.faults):3} faults: {what}"
        )


def play(scenario: Scenario, found: Round, sampler: Sampler, random: Random) -> None:
    """Run a scenario with faults, verify its result, and record everything in `found`."""
    size, ground = scenario.size, scenario.ground
    journals = ground.folder / "journals"
    journals.mkdir()
    scenario.prepare()
    with scenario.service() as service:
        until = time.monotonic() + size.seconds
        crew = Crew(scenario.roles(), journals, until, seed=f"{random.random()}")
        sampler.crew = crew
        mischief = Mischief(
            Scene(ground, crew, random, service), size.seconds_between_faults, scenario.faults
        )
        try:
            _watch(crew, mischief, until - size.calm_seconds)
        finally:
            mischief.end()
            crew.end()
            sampler.crew = None
    if ground.server is not None:
        await_server(ground.server)
    found.faults = mischief.happened
    _count(found, read_journals(journals))
    found.problems += [*crew.problems, *mischief.problems, *scenario.verify(journals)]
    if not scenario.expires:
        found.problems += contradictions(ground.place)
    found.facts = scenario.facts


def _watch(crew: Crew, mischief: Mischief, calm_from: float) -> None:
    """Wait until all workers are done. Stop faults at `calm_from`."""
    mischief.start()
    while crew.is_at_work():
        time.sleep(0.02)
        if time.monotonic() > calm_from:
            mischief.end()


def _count(found: Round, records: Iterator[Record]) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record["kind"] == "crash":
            found.problems.append(record["error"])
        if "outcome" not in record:
            continue
        found.operations[record["kind"]][record["outcome"]] += 1
        if record["outcome"] == "ok":
            times[record["kind"]].append(record["seconds"])
            found.throughput[int(record["at"] + record["seconds"] - found.began)] += 1
    found.milliseconds = {kind: _percentiles(values) for kind, values in times.items()}


def _percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


@dataclass(frozen=True)
class Plan:
    """Scenarios and backends of a run, and its deadline."""

    names: Sequence[str]
    backends: Sequence[str]
    size: Size
    until: float
    seed: int = 0

    @property
    def cycle(self) -> list[tuple[type[Scenario], str]]:
        """Each scenario with each backend that it supports, once."""
        pairs = product((SCENARIOS[name] for name in self.names), self.backends)
        return [(scenario, backend) for scenario, backend in pairs if backend in scenario.backends]

    def rounds(self, server: Server | None, sampler: Sampler) -> Iterator[Round]:
        """Yield finished rounds until the time is over. Each scenario runs at least once."""
        warm_up()
        for number in count():
            if number >= len(self.cycle) and time.monotonic() > self.until:
                return
            scenario, backend = self.cycle[number % len(self.cycle)]
            found = Round(number, scenario.name, backend, time.monotonic())
            self._play(scenario, found, server, sampler)
            found.ended = time.monotonic()
            found.rest = sampler.at_rest()
            yield found

    def _play(
        self, scenario: type[Scenario], found: Round, server: Server | None, sampler: Sampler
    ) -> None:
        """Run a round on a fresh ground. An exception is a problem of the round."""
        random = Random(f"{self.seed}-{found.number}")
        try:
            with fresh_ground(found.backend, server) as ground:
                play(scenario(ground, self.size), found, sampler, random)
        except Exception:  # noqa: BLE001
            found.problems.append(traceback.format_exc())
            if server is not None:
                await_server(server)
