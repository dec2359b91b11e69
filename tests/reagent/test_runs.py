"""Runs of workbooks without Spark: transactions, retries, time-outs, and leftovers."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import pytest

from forklake.errors import Cancelled, Conflict, Forbidden, InvalidInput, NotFound
from forklake.reagent import LocalPlace, RunReport, plan_run, run_workbook
from forklake.reagent.attempts import Attempt
from forklake.reagent.scheduler import TaskState
from tests.reagent.conftest import Make

INSERT = {"sql": "INSERT INTO t VALUES (1, 'a')"}


def rows(place: LocalPlace, catalog: str = "sales", table: str = "t") -> int:
    """Return how many rows a table has."""
    view = place.catalogs.catalog(catalog).now()
    return len(view.inlined_rows(view.state.table(table)))


def states(report: RunReport) -> dict[str, str]:
    """Return the final state of each task."""
    return {name: one.state.value for name, one in report.tasks.items()}


def test_commits_record_their_run_and_task(metadata_only: LocalPlace, make: Make) -> None:
    words = "CALL sales.set_commit_message('ada', 'why', extra_info => 'more');"
    workbook = make(
        {
            "a": {"sql": "INSERT INTO t VALUES ($n, $name)"},
            "b": {"sql": words + INSERT["sql"], "after": ["a"]},
            "c": {"sql": f"{INSERT['sql']}; {INSERT['sql']}", "atomic": False, "after": ["b"]},
        },
        parameters={"n": 1, "name": "x'y"},
    )
    report = run_workbook(workbook, metadata_only, parameters={"n": "7"}, run_id="r1")
    assert report.succeeded, report.failure()
    assert report.parameters == {"n": 7, "name": "x'y"}
    history = metadata_only.catalogs.catalog("sales").snapshots()[-4:]
    assert [(one.author, one.commit_message) for one in history] == [
        ("book", "task a"),
        ("ada", "why"),
        ("book", "task c"),
        ("book", "task c"),
    ]
    reported = [json.loads(one.commit_extra_info or "") for one in history]
    assert reported[0] == {"run": "r1", "task": "a"}
    assert reported[1] == {"run": "r1", "task": "b", "note": "more"}
    numbers = [one.snapshot_id for one in history]
    found = [report.tasks[name].snapshots for name in "abc"]
    assert found == [[numbers[0]], [numbers[1]], numbers[2:]]
    assert [report.tasks[name].rows for name in "abc"] == [1, 1, 2]


def test_a_repeated_run_commits_nothing_twice(metadata_only: LocalPlace, make: Make) -> None:
    words = "CALL sales.set_commit_message('ada', 'why');"
    workbook = make({"a": INSERT, "b": {"sql": words + INSERT["sql"]}})
    for _ in range(2):
        assert run_workbook(workbook, metadata_only, run_id="same").succeeded
        assert rows(metadata_only) == 2
    assert run_workbook(workbook, metadata_only).succeeded
    assert rows(metadata_only) == 4


def test_isolation_by_transaction_creates_one_snapshot(
    metadata_only: LocalPlace, make: Make
) -> None:
    workbook = make({"a": INSERT, "b": {**INSERT, "after": ["a"]}}, isolation="transaction")
    before = len(metadata_only.catalogs.catalog("sales").snapshots())
    report = run_workbook(workbook, metadata_only)
    assert report.succeeded, report.failure()
    history = metadata_only.catalogs.catalog("sales").snapshots()
    assert len(history) == before + 1
    assert {tuple(one.snapshots) for one in report.tasks.values()} == {(history[-1].snapshot_id,)}
    assert len({one.session for one in report.tasks.values()}) == 1
    assert rows(metadata_only) == 2


@pytest.mark.parametrize("isolation", ["transaction", "fork"])
def test_a_run_with_the_same_id_is_applied_once(
    isolation: str, metadata_only: LocalPlace, make: Make
) -> None:
    workbook = make({"a": INSERT, "b": INSERT}, isolation=isolation)
    for _ in range(2):
        report = run_workbook(workbook, metadata_only, run_id="same")
        assert report.succeeded, report.failure()
        assert rows(metadata_only) == 2


@pytest.mark.parametrize("isolation", ["transaction", "fork"])
def test_a_failed_run_leaves_the_catalog_unchanged(
    isolation: str, metadata_only: LocalPlace, make: Make
) -> None:
    workbook = make(
        {"a": INSERT, "b": {"sql": "INSERT INTO nothing VALUES (1)", "after": ["a"]}},
        isolation=isolation,
    )
    metastore = metadata_only.catalogs
    before = metastore.catalog("sales").current_snapshot()
    report = run_workbook(workbook, metadata_only)
    assert states(report) == {"a": "done", "b": "failed"}
    assert report.tasks["b"].error is not None
    assert report.tasks["b"].error.code == "not_found"
    assert not report.succeeded
    assert metastore.catalog("sales").current_snapshot() == before
    assert rows(metadata_only) == 0
    assert [row.catalog_name for row in metastore.catalogs()] == ["sales"]


def test_the_fork_of_a_failed_run_can_be_kept(metadata_only: LocalPlace, make: Make) -> None:
    workbook = make({"a": INSERT, "b": {"sql": "DROP TABLE nothing", "after": ["a"]}})
    report = run_workbook(workbook, metadata_only, isolation="fork", keep_fork=True, run_id="x")
    assert report.fork is not None
    assert report.fork.startswith("sales-run-x-")
    assert rows(metadata_only, report.fork) == 1
    assert rows(metadata_only) == 0
    fork = metadata_only.catalogs.catalog(report.fork)
    assert fork.expires_at() is not None
    assert report.tasks["a"].snapshots == [fork.current_snapshot()]
    with pytest.raises(Forbidden, match="belongs to a run"):
        metadata_only.catalogs.fork(report.fork, "mine")


def test_the_fork_of_a_successful_run_is_merged_as_one_snapshot(
    metadata_only: LocalPlace, make: Make
) -> None:
    workbook = make(
        {"a": INSERT, "b": INSERT, "c": {"sql": "CREATE TABLE u (id INTEGER)", "after": ["b"]}},
        isolation="fork",
    )
    metastore = metadata_only.catalogs
    before = len(metastore.catalog("sales").snapshots())
    report = run_workbook(workbook, metadata_only, run_id="r1")
    assert report.succeeded, report.failure()
    assert report.publication is not None
    catalog = metastore.catalog("sales")
    (published,) = catalog.snapshots(limit=1)
    assert (published.author, published.commit_message) == ("book", "run r1")
    assert json.loads(published.commit_extra_info or "") == {"run": "r1"}
    assert report.publication.snapshot_id == catalog.current_snapshot()
    assert len(catalog.snapshots()) == before + 1
    assert rows(metadata_only) == 2
    assert rows(metadata_only, table="u") == 0
    assert report.fork is None
    assert [row.catalog_name for row in metastore.catalogs()] == ["sales"]


class Flaky:
    """A function that fails a number of times."""

    def __init__(self, times: int, error: Exception) -> None:
        self.left = times
        self._error = error

    def __call__(self, session: Any) -> int:
        session.execute(INSERT["sql"])
        self.left -= 1
        if self.left >= 0:
            raise self._error
        return 1


def test_retryable_errors_are_retried(metadata_only: LocalPlace, make: Make) -> None:
    report = run_workbook(make({"a": {"python": Flaky(2, Conflict("busy"))}}), metadata_only)
    assert report.succeeded
    assert report.tasks["a"].tries == 3
    assert rows(metadata_only) == 1  # the failed attempts were rolled back


@pytest.mark.parametrize(
    ("error", "retries", "tries"),
    [(Conflict("busy"), 1, 2), (NotFound("gone"), 5, 1), (ValueError("odd"), 5, 1)],
)
def test_retries_are_limited(
    error: Exception, retries: int, tries: int, metadata_only: LocalPlace, make: Make
) -> None:
    tasks = {"a": {"python": Flaky(9, error), "retries": retries}}
    task = run_workbook(make(tasks), metadata_only).tasks["a"]
    assert (task.state, task.tries) == (TaskState.FAILED, tries)
    assert task.error is not None
    assert str(error) in task.error.message
    assert rows(metadata_only) == 0


def test_a_timed_out_task_commits_nothing(metadata_only: LocalPlace, make: Make) -> None:
    def slow(session: Any) -> None:
        session.execute(INSERT["sql"])
        while True:  # one statement at a time, until one of them is cancelled
            session.execute("SHOW TABLES")

    report = run_workbook(make({"a": {"python": slow, "timeout_seconds": 0.3}}), metadata_only)
    task = report.tasks["a"]
    assert task.state is TaskState.FAILED
    assert task.error is not None
    assert "longer than 0.3 seconds" in task.error.message
    assert rows(metadata_only) == 0


def test_a_function_that_cannot_be_stopped_commits_nothing(
    metadata_only: LocalPlace, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, stop = threading.Event(), Attempt.stop

    def stopped(attempt: Attempt, reason: Cancelled) -> None:
        stop(attempt, reason)
        is_over.set()

    def slow(session: Any) -> None:
        session.execute(INSERT["sql"])
        assert is_over.wait(20)

    monkeypatch.setattr(Attempt, "stop", stopped)
    report = run_workbook(make({"a": {"python": slow, "timeout_seconds": 0.1}}), metadata_only)
    assert report.tasks["a"].state is TaskState.FAILED
    assert rows(metadata_only) == 0


def test_a_function_that_exits_ends_only_its_task(metadata_only: LocalPlace, make: Make) -> None:
    report = run_workbook(make({"a": {"python": lambda: sys.exit(3)}}), metadata_only)
    failure = report.failure()
    assert failure is not None
    assert failure.message == "SystemExit: 3"


@pytest.mark.usefixtures("engine")
def test_comments_and_semicolons_around_queries_are_accepted(
    metadata_only: LocalPlace, make: Make
) -> None:
    task = {
        "sql": "/* all */ SELECT 1 AS id, 'x;' AS name; -- done",
        "output": {"table": "u", "mode": "merge", "key": ["id"]},
        "checks": [
            {"sql": "SELECT * FROM u WHERE id = 2; -- none"},
            {"row_count": {"equals": 1}, "where": "id = 1 -- it"},
        ],
    }
    for _ in range(2):  # into a new table, and into an existing one
        report = run_workbook(make({"a": task}), metadata_only)
        assert report.succeeded, report.failure()


def test_a_failure_cancels_other_tasks_unless_keep_going_is_set(
    metadata_only: LocalPlace, make: Make
) -> None:
    has_begun = threading.Event()

    def long(session: Any) -> None:
        session.execute(INSERT["sql"])
        has_begun.set()
        while True:
            session.execute("SHOW TABLES")

    def bad() -> None:
        assert has_begun.wait(20)
        raise NotFound("gone")

    tasks = {"long": {"python": long}, "bad": {"python": bad}, "next": {**INSERT, "after": ["bad"]}}
    report = run_workbook(make(tasks), metadata_only)
    assert states(report) == {"long": "cancelled", "bad": "failed", "next": "skipped"}
    assert report.failure() is not None
    assert rows(metadata_only) == 0

    tasks = {"long": INSERT, "bad": {"python": bad}, "next": {**INSERT, "after": ["bad"]}}
    report = run_workbook(make(tasks), metadata_only, keep_going=True)
    assert states(report) == {"long": "done", "bad": "failed", "next": "skipped"}
    assert rows(metadata_only) == 1


def test_functions_get_their_named_parameters(metadata_only: LocalPlace, make: Make) -> None:
    seen: dict[str, Any] = {}

    def take(day: str, run: str, least: int = 5, **rest: Any) -> None:
        seen.update(day=day, run=run, least=least)

    report = run_workbook(make({"a": {"python": take}}, parameters={"day": "x"}), metadata_only)
    assert report.succeeded, report.failure()
    assert seen == {"day": "x", "run": report.run_id, "least": 5}

    def ask(nothing: int) -> None:
        raise AssertionError

    task = run_workbook(make({"a": {"python": ask}}), metadata_only).tasks["a"]
    assert task.error is not None
    assert "unknown arguments: nothing" in task.error.message
    tasks = {"a": {"python": lambda: 5, "output": {"table": "t"}}}
    task = run_workbook(make(tasks), metadata_only).tasks["a"]
    assert task.error is not None
    assert "returned a int" in task.error.message


def test_invalid_runs_change_nothing(metadata_only: LocalPlace, make: Make) -> None:
    before = metadata_only.catalogs.latest_snapshot()
    with pytest.raises(InvalidInput, match="isolation 'half' does not exist"):
        plan_run(make({"a": INSERT}), isolation="half")
    with pytest.raises(InvalidInput, match="has no catalog"):
        plan_run(make({"a": INSERT}, catalog=None))
    with pytest.raises(InvalidInput, match="cannot be 'a/b'"):
        plan_run(make({"a": INSERT}), run_id="a/b")
    with pytest.raises(InvalidInput, match="Task 'a'"):
        run_workbook(make({"a": {"sql": "SELEC"}}), metadata_only)
    with pytest.raises(NotFound, match="nothing"):
        run_workbook(make({"a": INSERT}), metadata_only, catalog="nothing", isolation="fork")
    assert metadata_only.catalogs.latest_snapshot() == before
