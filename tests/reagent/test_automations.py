"""Automations on every backend: when they fire, outcomes of firings, and leases of runners."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forklake import Metastore
from forklake.errors import AlreadyExists, Cancelled, ForklakeError, InvalidInput, NotFound
from forklake.reagent.automations import Automations, FiringRun, Runner
from forklake.reagent.automations.background import run_in_background
from forklake.reagent.automations.due_firings import admit, plan_firings
from forklake.reagent.automations.lease import Lease
from forklake.store.automations import Automation, CatchUp, Overlap, database_time
from forklake.store.firings import Firing, State
from tests.fix_metastore import BACKENDS
from tests.reagent.automated import LEASE, WORKBOOK, World, add_mark, append, read_marks

HOURLY: dict[str, Any] = {"workbook_text": WORKBOOK, "schedule": "0 * * * *"}
WATCHING: dict[str, Any] = {"workbook_text": WORKBOOK, "table": "orders"}
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
only_sqlite = pytest.mark.parametrize("backend", ["sqlite"])


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Return a backend shared by processes, and one with concurrent writers."""
    return str(request.param)


@pytest.fixture
def world(metastore: Metastore) -> World:
    """Return a shop, its automations and a runner."""
    return World(metastore)


# Adding automations


@on_every_backend
def test_automations_are_added_listed_disabled_and_removed(world: World) -> None:
    found = world.automations
    assert found.all() == []
    assert world.runner.run_due() == []
    with pytest.raises(NotFound):
        found.get("nightly")
    zone = "Europe/Zurich"
    workbook = f"# {'long ' * 1000}\n" + '[parameters]\nday = "x"' + WORKBOOK
    made = found.add(
        "nightly",
        "shop",
        workbook_text=workbook,
        schedule="0 2 * * *",
        time_zone=zone,
        parameters={"day": "{date}"},
        isolation="fork",
    )
    found.add("arrivals", "shop", **WATCHING)
    assert [one.name for one, last in found.all() if last is None] == ["arrivals", "nightly"]
    assert found.get("nightly") == made
    assert (made.overlap, made.catch_up) == (Overlap.SKIP, CatchUp.LATEST)
    assert made.next_due_at is not None
    assert timedelta(0) < made.next_due_at - made.created_at <= timedelta(days=1)
    with pytest.raises(AlreadyExists):
        found.add("nightly", "shop", **HOURLY)

    assert not found.disable("nightly").is_enabled
    assert found.disable("nightly") == found.get("nightly")
    assert found.enable("nightly").is_enabled
    found.remove("nightly")
    with pytest.raises(NotFound):
        found.remove("nightly")
    assert [one.name for one, _ in found.all()] == ["arrivals"]


@only_sqlite
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"workbook_text": WORKBOOK},
        {"schedule": "0 * * * *"},
        {**HOURLY, "table": "orders"},
        {**HOURLY, "workbook_path": "report.toml"},
        {**HOURLY, "schedule": "99 * * * *"},
        {**HOURLY, "time_zone": "Nowhere"},
        {**HOURLY, "isolation": "cloud"},
        {**HOURLY, "overlap": "both"},
        {**HOURLY, "catch_up": "some"},
        {**HOURLY, "catch_up": "all"},  # skips, unless it is set to queue
        {**HOURLY, "workbook_text": "not TOML"},
        {**HOURLY, "workbook_text": "tasks = {}"},
        {**HOURLY, "parameters": {"unknown": "1"}},
        {**HOURLY, "schedule": None, "workbook_path": "gone.toml", "workbook_text": None},
        {"workbook_path": "gone.toml", "schedule": "0 * * * *"},
        {**WATCHING, "table": "missing"},
        {**WATCHING, "table": "missing.orders"},
        {**WATCHING, "table_catalog": "missing"},
    ],
)
def test_invalid_automations_are_refused(world: World, given: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, NotFound)) as raised:
        world.automations.add("new", "shop", **given)
    assert raised.value.remedy
    assert world.automations.all() == []


@only_sqlite
def test_names_and_limits_are_checked(world: World) -> None:
    with pytest.raises(NotFound):
        world.automations.add("new", "missing", **HOURLY)
    with pytest.raises(InvalidInput):
        world.automations.add("", "shop", **HOURLY)
    world.automations.add("new", "shop", **HOURLY)
    for limit in (0, 10**6):
        with pytest.raises(InvalidInput):
            world.automations.history("new", limit=limit)


# Schedules


def test_a_schedule_fires_once_at_its_time(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    assert world.runner.run_due() == []
    world.pass_time(hours=1)
    ((automation, firing),) = world.runner.run_due()
    assert automation.name == "hourly"
    assert (firing.state, firing.tries, firing.owner) == ("succeeded", 1, world.runner.owner)
    assert firing.result_snapshot == world.shop.current_snapshot()
    assert firing.ended_at is not None
    assert world.runner.run_due() == []
    (last,) = world.automations.history("hourly")
    assert replace(last, leased_until=None) == firing
    assert read_marks(world.shop) == [firing.key]
    assert world.automations.all()[0][1] == last


@on_every_backend
def test_after_downtime_the_latest_or_all_missed_occasions_are_run(world: World) -> None:
    world.automations.add("latest", "shop", **HOURLY)
    world.automations.add("all", "shop", **HOURLY, catch_up="all", overlap="queue")
    world.pass_time(hours=5)
    assert len(world.runner.run_due()) == 6
    assert world.states("latest") == ["succeeded"]
    assert world.states("all") == ["succeeded"] * 5
    due = [one.due_at for one in world.automations.history("all")]
    assert due == sorted(due, reverse=True)
    assert world.automations.history("latest")[0].due_at == due[0]
    began = [work.firing.due_at for work in world.marking.works if work.automation.name == "all"]
    assert began == sorted(began)


def test_occasions_during_a_run_are_skipped_or_queued(world: World) -> None:
    world.automations.add("skips", "shop", **HOURLY)
    world.automations.add("queues", "shop", **HOURLY, overlap="queue")
    world.pass_time(hours=1)
    plan_firings(world.metastore, world.clock)
    first, second = world.runner.claim(), world.runner.claim()
    assert first is not None
    assert second is not None
    for _ in range(2):
        world.pass_time(hours=1)
        for claimed in (first, second):
            with Lease(world.metastore.database, claimed[1], LEASE, world.clock) as lease:
                lease.renew()
        plan_firings(world.metastore, world.clock)
    assert world.runner.claim() is None
    assert world.states("skips") == ["running", "skipped", "skipped"]
    assert world.states("queues") == ["running", "skipped", "waiting"]  # the latest of them
    for claimed in (first, second):
        assert world.runner.run(*claimed).state == "succeeded"
    assert [one.name for one, _ in world.runner.run_due()] == ["queues"]
    assert len(read_marks(world.shop)) == 3


@on_every_backend
def test_a_disabled_automation_does_not_run_missed_occasions_later(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY, catch_up="all", overlap="queue")
    world.automations.add("arrivals", "shop", **WATCHING)
    for name in ("hourly", "arrivals"):
        world.automations.disable(name)
    append(world.shop)
    world.pass_time(hours=10)
    assert world.runner.run_due() == []
    for name in ("hourly", "arrivals"):
        world.automations.enable(name)
    assert world.runner.run_due() == []  # from now on, and not earlier occasions
    world.pass_time(hours=1)
    append(world.shop)
    assert sorted(one.name for one, _ in world.runner.run_due()) == ["arrivals", "hourly"]


def test_an_automation_can_be_fired_manually(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    fired = [world.automations.fire("hourly") for _ in range(2)]
    done = [one for _, one in world.runner.run_due()]
    assert (
        sorted(one.key for one in done)
        == sorted(one.key for one in fired)
        == read_marks(world.shop)
    )
    world.automations.disable("hourly")
    world.automations.fire("hourly")
    assert world.runner.run_due() == []


@only_sqlite
def test_parameters_may_refer_to_the_occasion(world: World) -> None:
    workbook = '[parameters]\nday = "x"\nat = "x"\nsince = 0\n' + WORKBOOK
    words = {"day": "{date}", "at": "on {due}", "since": "{snapshot}"}
    world.automations.add(
        "arrivals", "shop", workbook_text=workbook, table="orders", parameters=words
    )
    number = append(world.shop)
    ((_, firing),) = world.runner.run_due()
    due = f"{firing.due_at:%Y-%m-%dT%H:%M:%SZ}"
    (work,) = world.marking.works
    assert work.parameters == {"day": due[:10], "at": f"on {due}", "since": str(number)}


# Outcomes of runs


def test_a_failed_run_is_recorded_and_the_next_one_runs(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)

    def fail(work: FiringRun) -> None:
        raise reasons.pop()

    cancelled = Cancelled("No more.", remedy="Ask again.")  # language: ok
    reasons: list[Exception] = [ValueError("odd"), cancelled]
    world.marking.before = fail
    for _ in range(2):
        world.pass_time(hours=1)
        world.runner.run_due()
    world.marking.before = lambda work: None
    world.pass_time(hours=1)
    world.runner.run_due()
    assert world.states("hourly") == ["failed", "failed", "succeeded"]
    messages = [one.message for one in world.automations.history("hourly")]
    assert messages == [None, "ValueError: odd", "No more. Ask again."]  # language: ok


def test_an_automation_of_a_dropped_catalog_fails(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.automations.add("arrivals", "shop", **WATCHING)
    append(world.shop)
    world.metastore.drop_catalog("shop")
    world.pass_time(hours=1)
    ((_, firing),) = world.runner.run_due()
    assert firing.state == "failed"
    assert "was dropped" in str(firing.message)


def test_an_automation_removed_during_its_run_leaves_nothing(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.marking.before = lambda work: world.automations.remove("hourly")
    world.pass_time(hours=1)
    world.runner.run_due()
    assert world.automations.all() == []
    world.automations.add("hourly", "shop", **HOURLY)
    assert world.automations.history("hourly") == []


@only_sqlite
def test_an_unreadable_automation_does_not_block_others(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("broken", "hourly"):
        world.automations.add(name, "shop", **HOURLY)
    with world.metastore.database.writing() as connection:
        connection.fetch("UPDATE reagent_automation SET schedule = 'x' WHERE name = 'broken'")
        connection.commit()
    world.pass_time(hours=1)
    assert [one.name for one, _ in world.runner.run_due()] == ["hourly"]
    assert "automation broken cannot be planned" in caplog.text


# Leases


@on_every_backend
def test_the_clock_of_the_database_is_used(metastore: Metastore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    with metastore.database.reading() as connection:
        reported = [database_time(connection) for _ in range(2)]
    assert [before, *reported] == sorted([before, *reported])
    assert reported[-1] < datetime.now(UTC) + timedelta(seconds=1)


@on_every_backend
def test_a_firing_is_taken_over_when_its_lease_expires(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.pass_time(hours=1)
    plan_firings(world.metastore, world.clock)
    silent, other = world.runner, world.new_runner()
    claimed = silent.claim()
    assert claimed is not None
    assert other.run_due() == []
    world.pass_time(seconds=61)
    ((_, firing),) = other.run_due()
    assert (firing.state, firing.tries, firing.owner) == ("succeeded", 2, other.owner)

    # The silent runner returns: it cannot record anything, and its commit does not count.
    late = silent.run(*claimed)
    assert "Taken over by another runner" in str(late.message)
    assert read_marks(world.shop) == [firing.key]
    (kept,) = world.automations.history("hourly")
    assert (kept.owner, kept.state, kept.tries) == (other.owner, "succeeded", 2)
    lease = Lease(world.metastore.database, claimed[1], LEASE, world.clock)
    lease.renew()
    with pytest.raises(Cancelled):
        lease.check()


def test_a_commit_whose_runner_died_after_it_counts(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.pass_time(hours=1)
    plan_firings(world.metastore, world.clock)
    claimed = world.runner.claim()
    assert claimed is not None
    snapshot = add_mark(world.shop, claimed[1].key)
    world.pass_time(seconds=61)
    ((_, firing),) = world.new_runner().run_due()
    assert (firing.state, firing.result_snapshot) == ("succeeded", snapshot)
    assert world.marking.works == []  # no work was left
    assert read_marks(world.shop) == [firing.key]


def test_a_failed_retry_after_a_committed_attempt_counts_as_success(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.pass_time(hours=1)
    plan_firings(world.metastore, world.clock)
    world.runner.claim()
    world.pass_time(seconds=61)

    def outrun(work: FiringRun) -> None:
        add_mark(world.shop, work.key)
        raise ForklakeError("A concurrent commit was first.")

    world.marking.before = outrun
    ((_, firing),) = world.new_runner().run_due()
    assert firing.state == "succeeded"
    assert firing.result_snapshot == world.shop.current_snapshot()


def test_a_firing_that_kills_its_runners_is_given_up(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY, overlap="queue")
    world.automations.fire("hourly")
    for tries in range(1, 6):
        claimed = world.runner.claim()
        assert claimed is not None
        assert claimed[1].tries == tries
        world.pass_time(seconds=61)
    assert world.runner.claim() is None
    (given_up,) = world.automations.history("hourly")
    assert (given_up.state, given_up.message) == (
        "failed",
        "5 runners ended before the firing was done.",
    )


@only_sqlite
def test_a_lease_is_renewed_during_work(world: World) -> None:
    automations = Automations(world.metastore)
    automations.add("rarely", "shop", workbook_text=WORKBOOK, schedule="0 0 29 2 *")
    automations.fire("rarely")
    others: list[object] = []
    pause = threading.Event()

    def watch(work: FiringRun) -> None:
        first = automations.history("rarely")[0].leased_until
        while automations.history("rarely")[0].leased_until == first:
            pause.wait(0.02)
        others.append(Runner(world.metastore, world.marking).claim())
        work.check()

    world.marking.before = watch
    runner = Runner(world.metastore, world.marking, lease=timedelta(seconds=3))
    ((_, firing),) = runner.run_due()
    assert (firing.state, others) == ("succeeded", [None])


def test_many_threads_of_a_process_share_the_work(world: World) -> None:
    names = [f"hourly-{number}" for number in range(6)]
    for name in names:
        world.automations.add(name, "shop", **HOURLY, catch_up="all", overlap="queue")
    world.pass_time(hours=3)
    done = threading.Semaphore(0)
    runner = Runner(
        world.metastore,
        world.marking,
        lease=LEASE,
        clock=world.clock,
        on_end=lambda *_: done.release(),
    )
    with run_in_background(runner, 4, patience=60):
        for _ in range(18):
            assert done.acquire(timeout=60)
    assert [world.states(name) for name in names] == [["succeeded"] * 3] * 6
    assert len(set(read_marks(world.shop))) == len(read_marks(world.shop)) == 18


@on_every_backend
def test_concurrent_planners_record_each_occasion_once(world: World) -> None:
    world.automations.add("all", "shop", **HOURLY, catch_up="all", overlap="queue")
    world.automations.add("arrivals", "shop", **WATCHING, catch_up="all")
    numbers = [append(world.shop) for _ in range(5)]
    world.pass_time(hours=7)
    start = threading.Barrier(6)

    def planned() -> list[Firing]:
        start.wait()
        return plan_firings(world.metastore, world.clock)

    with ThreadPoolExecutor(6) as threads:
        runs = [threads.submit(planned) for _ in range(6)]
        found = [one.occasion for run in runs for one in run.result()]
    assert len(found) == len(set(found)) == 12
    assert {f"snapshot {number}" for number in numbers} < set(found)


# Planning


def test_overlap_and_catch_up_decide_which_firings_are_created(world: World) -> None:
    made = world.automations.add("hourly", "shop", **HOURLY)
    one, two = (Firing(1, name, None, State.WAITING, made.created_at) for name in "12")
    runs = replace(one, occasion="0", state=State.RUNNING)
    waits = replace(one, occasion="0")

    def admitted(overlap: str, catch_up: str, *earlier: Firing) -> tuple[list[str], list[str]]:
        stated: Automation = replace(made, overlap=Overlap(overlap), catch_up=CatchUp(catch_up))
        new, needless = admit(stated, [one, two], earlier, made.created_at)
        assert all((each.state == "skipped") == (each.ended_at is not None) for each in new)
        return [f"{each.occasion} {each.state}" for each in new], [
            each.occasion for each in needless
        ]

    assert admitted("skip", "latest") == (["2 waiting"], [])
    assert admitted("skip", "latest", runs) == (["2 skipped"], [])
    assert admitted("skip", "latest", waits) == (["2 skipped"], [])
    assert admitted("queue", "latest", runs) == (["2 waiting"], [])
    assert admitted("queue", "latest", waits) == (["2 waiting"], ["0"])
    assert admitted("queue", "all", waits) == (["1 waiting", "2 waiting"], [])
    assert admit(made, [], [waits], made.created_at) == ([], [])


@only_sqlite
def test_old_firings_are_deleted(world: World) -> None:
    world.automations.add("hourly", "shop", **HOURLY)
    world.pass_time(hours=1)
    world.runner.run_due()
    world.pass_time(days=91)
    world.runner.run_due()
    world.pass_time(hours=1)
    world.runner.run_due()
    assert len(world.automations.history("hourly")) == 2


@only_sqlite
def test_a_metastore_without_automations_is_reported(metastore: Metastore) -> None:
    assert Automations(metastore).all() == []
    with pytest.raises(NotFound):
        Automations(metastore).history("nightly")
