"""Automations with real workbooks, in this process and from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from forklake import Metastore
from forklake.errors import Cancelled
from forklake.reagent import LocalPlace
from forklake.reagent.automations import Automations, FiringRun, Runner
from forklake.reagent.automations.due_firings import plan_firings
from forklake.reagent.automations.workbooks import perform, workbooks
from forklake.store import phases
from tests.cli.conftest import CommandLine
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS
from tests.fix_metastore import Place
from tests.reagent.automated import LEASE, Clock

WORKBOOK = """
[parameters]
since = 0

[tasks.first]
sql = "INSERT INTO t VALUES ($since, 'first')"

[tasks.second]
after = ["first"]
sql = "INSERT INTO t VALUES ($since, 'second')"
"""
BROKEN = """
[tasks.first]
sql = "INSERT INTO t VALUES (1, 'first')"

[tasks.second]
after = ["first"]
sql = "DROP TABLE nothing"
"""
ISOLATIONS = ("direct", "transaction", "fork")


def rows(metastore: Metastore) -> list[tuple[int, str]]:
    """Return the rows of the table `t`."""
    seen = metastore.catalog("sales").now()
    found = seen.inlined_rows(seen.state.table("t"))
    return sorted(tuple(one.values.values()) for one in found)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_repeated_run_changes_nothing_twice(metadata_only: LocalPlace, isolation: str) -> None:
    metastore = metadata_only.catalogs
    clock = Clock()
    automations = Automations(metastore, clock=clock)
    automations.add(
        "hourly",
        "sales",
        workbook_text=WORKBOOK,
        schedule="0 * * * *",
        isolation=isolation,
        parameters={"since": "7"},
    )
    clock.moment += LEASE * 60

    runner = Runner(metastore, lambda work: perform(metadata_only, work), lease=LEASE, clock=clock)
    plan_firings(metastore, clock)
    claimed = runner.claim()
    assert claimed is not None
    first = runner.run(*claimed)
    assert (first.state, first.message) == ("succeeded", None)
    expected = [(7, "first"), (7, "second")]
    assert rows(metastore) == expected
    assert first.result_snapshot == metastore.catalog("sales").current_snapshot()
    # A run that was taken over meanwhile, and still does all its work.
    runner.run(*claimed)
    assert rows(metastore) == expected
    assert [row.catalog_name for row in metastore.catalogs()] == ["sales"]
    (kept,) = automations.history("hourly")
    assert (kept.state, kept.tries) == ("succeeded", 1)


# The commit after which a run is killed: between its tasks, before the merge and after it.
CUTS = [("direct", 1), ("transaction", 1), ("fork", 2), ("fork", 3)]


def run_until_killed(commits: int, place: Place, clock: Clock) -> None:
    """Run a runner that is killed right after so many commits."""
    left = commits

    def die(reached: str) -> None:
        nonlocal left
        left -= reached == "commit.committed"
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    with place.open() as metastore, workbooks(place.uri, place.metadata_schema) as run:
        phases.observer = die
        Runner(metastore, run, lease=LEASE, clock=clock).run_due()


@pytest.mark.slow
def test_the_run_of_a_killed_runner_is_completed_exactly_once(
    metadata_only: LocalPlace, place: Place
) -> None:
    metastore = metadata_only.catalogs
    clock = Clock()
    automations = Automations(metastore, clock=clock)
    runner = Runner(metastore, partial(perform, metadata_only), lease=LEASE, clock=clock)
    expected: list[tuple[int, str]] = []
    for isolation, commits in CUTS:
        name = f"{isolation} {commits}"
        since = len(expected)
        automations.add(
            name,
            "sales",
            workbook_text=WORKBOOK,
            schedule="0 0 29 2 *",
            isolation=isolation,
            parameters={"since": str(since)},
        )
        automations.fire(name)
        process = CONTEXT.Process(target=run_until_killed, args=(commits, place, clock))
        process.start()
        process.join(TIMEOUT_SECONDS)
        assert process.exitcode == -signal.SIGKILL, name
        assert runner.run_due() == []  # its lease still holds
        clock.moment += 2 * LEASE
        ((_, firing),) = runner.run_due()
        assert (firing.state, firing.tries) == ("succeeded", 2), (name, firing.message)
        assert firing.result_snapshot is not None, name
        expected += [(since, "first"), (since, "second")]
        assert rows(metastore) == expected, name


@pytest.mark.parametrize("isolation", ISOLATIONS[1:])
def test_a_failed_run_leaves_the_catalog_unchanged(
    metadata_only: LocalPlace, isolation: str
) -> None:
    metastore = metadata_only.catalogs
    automations = Automations(metastore)
    automations.add(
        "rarely", "sales", workbook_text=BROKEN, schedule="0 0 29 2 *", isolation=isolation
    )
    automations.fire("rarely")
    before = metastore.catalog("sales").current_snapshot()
    runner = Runner(metastore, lambda work: perform(metadata_only, work))
    ((_, firing),) = runner.run_due()
    assert firing.state == "failed"
    assert firing.message
    assert metastore.catalog("sales").current_snapshot() == before
    assert [row.catalog_name for row in metastore.catalogs()] == ["sales"]


def test_a_taken_over_run_stops_before_its_next_task(metadata_only: LocalPlace) -> None:
    metastore = metadata_only.catalogs
    automation = Automations(metastore).add(
        "rarely", "sales", workbook_text=WORKBOOK, schedule="0 0 29 2 *", isolation="fork"
    )
    fired = Automations(metastore).fire("rarely")
    before = metastore.catalog("sales").current_snapshot()
    reported = []

    def check() -> None:
        reported.append(len(metastore.catalogs()))
        if len(reported) == 2:  # when the first task is done
            raise Cancelled("Another one does it.")

    with pytest.raises(Cancelled):
        perform(metadata_only, FiringRun(automation, fired, "sales", check))
    assert reported[:2] == [2, 2]
    assert metastore.catalog("sales").current_snapshot() == before
    assert [row.catalog_name for row in metastore.catalogs()] == ["sales"]


def test_an_automation_is_not_triggered_by_statement_commits_of_its_tasks(
    metadata_only: LocalPlace,
) -> None:
    metastore = metadata_only.catalogs
    text = "[tasks.one]\natomic = false\nsql = \"INSERT INTO t VALUES (1, 'one')\""
    Automations(metastore).add("own", "sales", table="t", workbook_text=text)
    with metastore.catalog("sales").transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"id": 0, "name": "theirs"}])
    runner = Runner(metastore, lambda work: perform(metadata_only, work))
    assert len(plan_firings(metastore)) == 1
    claimed = runner.claim()
    assert claimed is not None
    assert runner.run(*claimed).state.value == "succeeded"
    assert plan_firings(metastore) == []


def test_the_merge_of_a_run_triggers_other_automations(metadata_only: LocalPlace) -> None:
    metastore = metadata_only.catalogs
    automations = Automations(metastore)
    add = partial(automations.add, catalog="sales", workbook_text=WORKBOOK, isolation="fork")
    add("watches", table="t", parameters={"since": "{snapshot}"})
    add("rarely", schedule="0 0 29 2 *")
    automations.fire("rarely")
    runner = Runner(metastore, lambda work: perform(metadata_only, work))
    ran = runner.run_due()
    assert [(one.name, firing.state.value) for one, firing in ran] == [
        ("rarely", "succeeded"),
        ("watches", "succeeded"),  # and only once: it does not trigger itself
    ]
    number = ran[0][1].result_snapshot
    assert number == ran[1][1].snapshot_id
    assert sorted({since for since, _ in rows(metastore)}) == [0, number]


# The command line


@pytest.fixture
def cli(metadata_only: LocalPlace, tmp_path: Path) -> CommandLine:
    """Return the command line on the same metastore, with a workbook in a file."""
    (tmp_path / "book.toml").write_text(WORKBOOK)
    return CommandLine(f"ducklake:{metadata_only.catalogs.database.address}")


def test_automations_are_managed_by_commands(
    cli: CommandLine, metadata_only: LocalPlace, tmp_path: Path
) -> None:
    book = str(tmp_path / "book.toml")
    assert cli.ok("automations", "list").lines == ["No automations."]
    nightly = cli.document(
        *("automations", "add", "nightly", "sales", book),
        *("--schedule", "0 2 * * *", "--time-zone", "Europe/Zurich"),
        *("--param", "since=3", "--isolation", "fork"),
    )["automation"]
    assert (nightly["schedule"], nightly["table"], nightly["overlap"]) == (
        "0 2 * * *",
        None,
        "skip",
    )
    stated = cli.ok("automations", "add", "watches", "sales", book, "--table", "t", "--by-path")
    assert stated.lines == ["Automation watches runs when main.t changes."]
    (first, second) = cli.document("automations", "list")["automations"]
    assert (first["name"], first["last_firing"], second["workbook_path"]) == ("nightly", None, book)

    cli.ok("automations", "disable", "watches")
    assert cli.document("automations", "run", "--once") == {"firings": []}
    cli.ok("automations", "fire", "nightly")
    (done,) = cli.document("automations", "run", "--once")["firings"]
    assert (done["automation"], done["state"], done["tries"]) == ("nightly", "succeeded", 1)
    assert rows(metadata_only.catalogs) == [(3, "first"), (3, "second")]
    assert cli.document("automations", "history", "nightly")["firings"] == [
        {name: value for name, value in done.items() if name != "automation"}
    ]
    shown = cli.ok("automations", "list").cells
    assert [(line[0], line[-1]) for line in shown] == [("nightly", "succeeded"), ("watches", "no")]
    assert "succeeded" in cli.ok("automations", "history", "nightly").out
    cli.ok("automations", "enable", "watches")
    assert cli.ok("automations", "run", "--once").lines == ["Ran 0 firings."]
    cli.ok("automations", "remove", "watches")
    assert len(cli.document("automations", "list")["automations"]) == 1


def test_errors_of_commands_have_remedies(cli: CommandLine, tmp_path: Path) -> None:
    book = str(tmp_path / "book.toml")
    add = ("automations", "add", "new", "sales")
    for given in (
        (*add, book),
        (*add, str(tmp_path / "gone.toml"), "--schedule", "0 2 * * *"),
        (*add, book, "--schedule", "0 2 * *"),
        (*add, book, "--schedule", "0 2 * * *", "--param", "since"),
        (*add, book, "--schedule", "0 2 * * *", "--param", "since=x"),
    ):
        code, error = cli.error(*given)
        assert (code, bool(error["remedy"])) == (2, True), given
    code, error = cli.error("automations", "fire", "new")
    assert (code, error["code"]) == (3, "not_found")


@contextmanager
def run_command(cli: CommandLine, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command that runs until it is interrupted, and check that it ends well."""
    with subprocess.Popen(
        [sys.executable, "-m", "forklake.cli.main", *arguments],
        env={**os.environ, "FORKLAKE_METASTORE": cli.uri},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            _, stated = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, stated


@pytest.mark.slow
def test_the_runner_command_runs_until_it_is_interrupted(cli: CommandLine, tmp_path: Path) -> None:
    cli.ok("automations", "add", "watches", "sales", str(tmp_path / "book.toml"), "--table", "t")
    cli.ok("automations", "fire", "watches")
    with run_command(cli, "automations", "run", "--threads", "2", "--json") as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        reported = ""
        while not reported.endswith("}\n"):
            reported += next(lines)
    assert json.loads(reported)["state"] == "succeeded"


@pytest.mark.slow
def test_a_service_runs_automations_if_enabled(
    cli: CommandLine, metadata_only: LocalPlace, tmp_path: Path
) -> None:
    config = tmp_path / "service.toml"
    config.write_text("automations = 2\nport = 0\n")
    automations = Automations(metadata_only.catalogs)
    automations.add("watches", "sales", workbook_text=WORKBOOK, table="t")
    fired = automations.fire("watches")
    pause = threading.Event()
    with run_command(cli, "serve", "--config", str(config)) as process:
        while process.poll() is None and automations.history("watches")[0].ended_at is None:
            pause.wait(0.05)
    (ended,) = automations.history("watches")
    assert (ended.key, ended.state, ended.tries) == (fired.key, "succeeded", 1)
    assert len(rows(metadata_only.catalogs)) == 2
