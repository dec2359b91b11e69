"""Concurrent runner processes: every firing counts once, even if runners are killed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from datetime import timedelta
from functools import partial

import pytest

from forklake.errors import Unavailable
from forklake.reagent.automations import FiringRun, Runner
from forklake.reagent.automations.due_firings import plan_firings
from forklake.reagent.automations.triggers import find_table_changes
from forklake.store import phases
from forklake.store.automations import Watched
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS, Start, in_processes
from tests.fix_metastore import Place
from tests.fix_postgres import PostgresServer
from tests.reagent.automated import (
    LEASE,
    WORKBOOK,
    Clock,
    MarkingHandler,
    World,
    append,
    read_marks,
)

FIRING_PHASES = [phase for phase in phases.PHASES if phase.startswith("firing.")]
# Phases at which the run itself is interrupted: before its commit and after it.
KILLED_AT = [*FIRING_PHASES, "commit.prepared", "commit.committed"]


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Return each backend that processes can share."""
    return str(request.param)


def run_due(start: Start, *, place: Place, clock: Clock) -> list[tuple[str, str]]:
    """Run due firings in a process, and return their keys and states."""
    with place.open() as metastore:
        runner = Runner(metastore, MarkingHandler(metastore), lease=LEASE, clock=clock)
        start()
        return [(firing.key, firing.state.value) for _, firing in runner.run_due()]


def test_each_firing_is_run_by_one_of_many_runners(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        names = [f"hourly-{number}" for number in range(8)]
        for name in names:
            world.automations.add(
                name,
                "shop",
                workbook_text=WORKBOOK,
                schedule="0 * * * *",
                catch_up="all",
                overlap="queue",
            )
        world.pass_time(hours=6)
        runners = [partial(run_due, place=place, clock=world.clock)] * 5
        runs = in_processes(runners)
        # A runner ends when others run all that is left: later firings are left to the next runner.
        last = [(firing.key, firing.state.value) for _, firing in world.runner.run_due()]
        ran = [one for run in [*runs, last] for one in run]
        keys = [key for key, _ in ran]
        assert len(keys) == len(set(keys)) == 48
        assert {state for _, state in ran} == {"succeeded"}
        assert read_marks(world.shop) == sorted(keys)
        assert sum(1 for run in runs if run) > 1
        for name in names:
            assert world.states(name) == ["succeeded"] * 6
            assert {one.tries for one in world.automations.history(name)} == {1}


def run_until_killed(phase: str, place: Place, clock: Clock) -> None:
    """Run a runner that is killed the first time that it reaches a phase."""

    def die(reached: str) -> None:
        if reached == phase:
            os.kill(os.getpid(), signal.SIGKILL)

    with place.open() as metastore:
        phases.observer = die
        Runner(metastore, MarkingHandler(metastore), lease=LEASE, clock=clock).run_due()


def test_a_runner_killed_at_any_phase_loses_and_repeats_nothing(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        world.automations.add(
            "hourly", "shop", workbook_text=WORKBOOK, schedule="0 * * * *", overlap="queue"
        )
        for number, phase in enumerate(KILLED_AT, start=1):
            world.pass_time(hours=1)
            process = CONTEXT.Process(target=run_until_killed, args=(phase, place, world.clock))
            process.start()
            process.join(TIMEOUT_SECONDS)
            assert process.exitcode == -signal.SIGKILL, phase
            world.runner.run_due()  # the lease of the killed runner still holds
            world.pass_time(seconds=LEASE.total_seconds() + 1)
            world.runner.run_due()
            assert world.states("hourly") == ["succeeded"] * number, phase
            assert len(read_marks(world.shop)) == number, phase
        history = world.automations.history("hourly")
        assert read_marks(world.shop) == sorted(one.key for one in history)
        # Claimed, interrupted twice, completed.
        assert Counter(one.tries for one in history)[2] == 4


@pytest.mark.slow
def test_runners_recover_from_a_server_killed_during_a_run(
    disposable_postgres: PostgresServer,
) -> None:
    uri = f"ducklake:postgres:{disposable_postgres.dsn()}&connect_timeout=2"
    with Place("postgresql", uri).open() as metastore:
        world = World(metastore)
        world.automations.add("rarely", "shop", workbook_text=WORKBOOK, schedule="0 0 29 2 *")
        fired = world.automations.fire("rarely")

        def cut(work: FiringRun) -> None:
            disposable_postgres.kill()
            with pytest.raises(Unavailable):
                world.automations.get("rarely")
            disposable_postgres.start()

        world.marking.before = cut
        ((_, firing),) = world.runner.run_due()
        assert (firing.key, firing.state, firing.tries) == (fired.key, "succeeded", 1)
        assert read_marks(world.shop) == [fired.key]


def commit_often(start: Start, *, place: Place, count: int) -> list[int]:
    """Commit changes of the watched table, and return their snapshots."""
    with place.open() as metastore:
        catalog = metastore.catalog("shop")
        start()
        found: list[int] = []
        for number in range(count):
            append(catalog, "other")
            if number % 2:
                found.append(append(catalog))
        return found


def plan_often(start: Start, *, place: Place, clock: Clock, count: int) -> list[int]:
    """Plan due firings repeatedly, and return the recorded snapshots."""
    with place.open() as metastore:
        start()
        return [
            int(one.snapshot_id or 0)
            for _ in range(count)
            for one in plan_firings(metastore, clock)
        ]


def test_triggers_are_neither_lost_nor_repeated_under_concurrent_commits(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        add = partial(world.automations.add, catalog="shop", workbook_text=WORKBOOK)
        add("every", table="orders", catch_up="all")
        add("latest", table="orders")
        writers = [partial(commit_often, place=place, count=30)] * 3
        lookers = [partial(plan_often, place=place, clock=world.clock, count=40)] * 2
        runs = in_processes([*writers, *lookers])
        plan_firings(metastore, world.clock)
        touched = sorted(number for run in runs[:3] for number in run)
        history = world.automations.history("every", limit=1000)
        assert sorted(one.snapshot_id or 0 for one in history) == touched
        assert len(touched) == 45
        (last, *earlier) = world.automations.history("latest", limit=1000)
        assert (last.snapshot_id, last.state) == (touched[-1], "waiting")
        assert {one.state.value for one in earlier} <= {"skipped"}


# Changes of a table


def find_changes(world: World, since: int, table: str = "orders") -> list[int]:
    """Return the later snapshots that changed a table."""
    watched = Watched(world.shop.catalog_id, "main", table)
    found = find_table_changes(world.shop, watched, since, except_keys="reagent-own-")  # type: ignore[arg-type]
    assert found is not None
    assert found.examined == world.shop.current_snapshot()
    return [int(number) for number, _ in found.snapshots]


def test_commits_that_change_a_table_are_found(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        catalog = world.shop
        start = catalog.current_snapshot()
        expected = [append(catalog)]
        append(catalog, "other")
        catalog.set_option("target_file_size", "1MB")
        metastore.fork("shop", "fork")
        append(metastore.catalog("fork"))
        with catalog.transaction(idempotency_key="reagent-own-1") as transaction:
            transaction.rename_table("other", "another")
        with catalog.transaction() as transaction:
            transaction.drop_table("orders")
        assert find_changes(world, start) == expected
        # Another table takes the name, which is what is watched.
        with catalog.transaction() as transaction:
            transaction.rename_table("another", "orders")
        renamed = catalog.current_snapshot()
        expected += [renamed, append(catalog)]
        assert find_changes(world, start) == expected
        assert find_changes(world, renamed) == expected[-1:]
        assert find_changes(world, start, "none") == []


@pytest.mark.parametrize("backend", ["sqlite"])
def test_snapshots_that_expire_unseen_count_as_one_change(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        start = world.shop.current_snapshot()
        for _ in range(3):
            append(world.shop)
        newest = append(world.shop, "other")
        world.shop.expire_snapshots(older_than=timedelta(0))
        assert find_changes(world, start) == [newest]
        assert find_changes(world, newest) == []


@pytest.mark.parametrize("backend", ["sqlite"])
def test_an_automation_is_not_triggered_by_its_own_commits(place: Place) -> None:
    with place.open() as metastore:
        world = World(metastore)
        world.automations.add("own", "shop", workbook_text=WORKBOOK, table="done")
        world.automations.add("other", "shop", workbook_text=WORKBOOK, table="orders")
        append(world.shop)
        assert [one.name for one, _ in world.runner.run_due()] == ["other", "own"]
        assert world.runner.run_due() == []
