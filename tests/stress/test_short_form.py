"""The stress suite in its short form: every scenario once, with faults, within seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stress.crews import Crew, warm_up
from stress.grounds import Server, fresh_ground, running_server
from stress.report import Run
from stress.rounds import Plan, Round
from stress.sampling import Sampler
from stress.scenarios.scenario import Size
from stress.scenarios.transactions import CATALOG, KEYS, Client, Transactions, judge
from stress.workers import Worker

from forklake.model import conflicts

SIZE = Size(seconds=2.5, seconds_between_faults=0.6, workers=4, forks=20, tasks=8, steps=3)
ROUNDS = (
    ("transactions", "sqlite"),
    ("transactions", "postgresql"),
    ("forks", "postgresql"),
    ("worktasks", "sqlite"),
    ("garbage", "postgresql"),
    ("service", "postgresql"),
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Yield a server that scenarios break."""
    with running_server() as found:
        yield found


def played(scenario: str, backend: str, size: Size, server: Server) -> tuple[Round, Sampler]:
    sampler = Sampler(server, every=0.2)
    sampler.start()
    try:
        (found,) = Plan([scenario], [backend], size, until=0.0).rounds(server, sampler)
    finally:
        sampler.end()
    return found, sampler


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "backend"), ROUNDS)
def test_a_round_with_faults_leaves_no_problems(
    scenario: str, backend: str, server: Server
) -> None:
    found, sampler = played(scenario, backend, SIZE, server)
    assert found.problems == []
    assert found.faults
    assert sum(outcomes["ok"] for outcomes in found.operations.values()) > SIZE.workers
    assert Run([found], sampler.samples).problems() == []
    assert max(sample.workers for sample in sampler.samples) > 0


@pytest.mark.slow
def test_sixty_four_worktasks_finish_in_one_history(server: Server) -> None:
    size = Size(seconds=3, seconds_between_faults=1, tasks=64, steps=2)
    found, _ = played("worktasks", "postgresql", size, server)
    assert found.problems == []
    tasks = found.facts["tasks"]
    assert len(tasks) == len({one["task"] for one in tasks}) == 64
    assert all(one["sessions"] and one["seconds"] >= 0 for one in tasks)
    assert found.facts["snapshots"] >= 2 + 64 * 3


def test_a_lost_acknowledged_append_is_detected(tmp_path: Path) -> None:
    with fresh_ground("sqlite", None) as ground:
        scenario = Transactions(ground, SIZE)
        scenario.prepare()
        worker = Worker(0, 0, tmp_path / "journal-0-0.jsonl", until=float("inf"))
        client = Client(ground.place, most=200)
        client(worker)
        found, facts = judge(ground.place, tmp_path)
        assert found == []
        assert facts["acknowledged"] == 200
        with ground.place.open() as metastore:
            catalog = metastore.catalog(CATALOG)
            with catalog.transaction() as transaction:
                table = transaction.table(KEYS[1])
                transaction.delete_rows(table, transaction.inlined_rows(table)[-1:])
        found, _ = judge(ground.place, tmp_path)
        assert any(what.startswith("lost append") for what in found)


class Careless(Client):
    """A client for which no two commits conflict."""

    def __call__(self, worker: Worker) -> None:
        conflicts.RULES.clear()
        super().__call__(worker)


@pytest.mark.slow
def test_a_lake_without_conflict_checks_is_detected() -> None:
    warm_up()
    # Whether two transactions overlap is random: one of a few rounds shows it.
    found = next(filter(None, (careless_round() for _ in range(10))), set())
    assert {"lost append", "lost update"} & found


def careless_round() -> set[str]:
    """Return the anomalies of some transactions of careless clients."""
    with fresh_ground("sqlite", None) as ground:
        Transactions(ground, SIZE).prepare()
        roles = [Careless(ground.place, most=150) for _ in range(3)]
        crew = Crew(roles, ground.folder, until=time.monotonic() + 60)
        while crew.is_at_work():
            time.sleep(0.02)
        crew.end()
        found, _ = judge(ground.place, ground.folder)
    return {what.split(":")[0] for what in found}
