"""Runs of workbooks in a service, where each worktask has a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from forklake.client import Client, connect
from forklake.client.transport import Transport
from forklake.engines.spark.engine import Engine
from forklake.errors import Unavailable, Unsupported
from forklake.reagent import ServedPlace, run_workbook
from forklake.reagent.scheduler import TaskState
from tests.crucible.conftest import open_service, settings
from tests.crucible.served import RunningService
from tests.reagent.conftest import Make

__all__ = ["open_service", "settings"]

TABLE = "CREATE TABLE t (id INTEGER, name VARCHAR)"


@pytest.fixture
def client(open_service: RunningService, engine: Engine) -> Iterator[Client]:
    """Yield a client of a service without access rules, on the shared Spark of the tests."""
    with connect(open_service.address) as found:
        found.create_catalog("sales").set_option("data_inlining_row_limit", 100)
        with found.session("sales") as session:
            session.execute(TABLE)
        yield found


def rows(client: Client) -> list[int]:
    """Return the ids in the table."""
    with client.session("sales") as session:
        found: list[int] = session.sql("SELECT id FROM t ORDER BY id")["id"].to_pylist()
        return found


@pytest.mark.parametrize("isolation", ["direct", "transaction", "fork"])
def test_sql_runs_in_the_service_with_every_isolation(
    isolation: str, client: Client, make: Make
) -> None:
    workbook = make(
        {
            "a": {"sql": "INSERT INTO t VALUES ($n, 'x')"},
            "b": {"sql": "INSERT INTO t VALUES (2, 'y')"},
            "c": {
                "after": ["a", "b"],
                "sql": "SELECT 3 AS id, 'z' AS name",
                "output": {"table": "t"},
                "checks": [{"row_count": {"equals": 3}}, {"unique": ["id"]}],
            },
        },
        parameters={"n": 1},
        isolation=isolation,
    )
    before = len(client.catalog("sales").snapshots())
    report = run_workbook(workbook, ServedPlace(client), run_id="r1")
    assert report.succeeded, report.failure()
    assert rows(client) == [1, 2, 3]
    newest = client.catalog("sales").snapshots()[-1]
    assert json.loads(newest.commit_extra_info or "")["run"] == "r1"
    assert all(one.snapshots and one.session for one in report.tasks.values())
    made = len(client.catalog("sales").snapshots()) - before
    assert made == (3 if isolation == "direct" else 1)
    assert [row.catalog_name for row in client.all_catalogs()] == ["sales"]


@pytest.mark.parametrize("isolation", ["direct", "transaction", "fork"])
def test_failures_in_the_service_are_rolled_back(
    isolation: str, client: Client, make: Make
) -> None:
    task = {
        "sql": "INSERT INTO t VALUES (1, NULL)",
        "checks": [{"table": "t", "not_null": ["name"]}],
    }
    report = run_workbook(make({"a": task}), ServedPlace(client), isolation=isolation)
    assert report.tasks["a"].state is TaskState.FAILED
    failure = report.failure()
    assert failure is not None
    assert "name not null (1 row found)" in failure.message
    assert rows(client) == []
    assert [row.catalog_name for row in client.all_catalogs()] == ["sales"]


@pytest.mark.parametrize(
    "task",
    [
        {"python": lambda: None},
        {"sql": "SELECT 1", "inputs": {"x": {"table": "t"}}},
        {"sql": "SELECT 1", "output": {"table": "u", "delta": "u.delta"}},
        {"sql": "SELECT 1", "atomic": False},
    ],
)
def test_features_unsupported_by_services_are_refused_before_anything_runs(
    task: dict[str, Any], client: Client, make: Make
) -> None:
    before = client.catalog("sales").snapshot_at()
    tasks = {"fine": {"sql": "INSERT INTO t VALUES (1, 'x')"}, "odd": {**task, "after": ["fine"]}}
    with pytest.raises(Unsupported, match="task 'odd' needs"):
        run_workbook(make(tasks), ServedPlace(client))
    assert client.catalog("sales").snapshot_at() == before


class Forgetful(Transport):
    """Loses replies to COMMITs: before they reach the service, or on the way back."""

    def __init__(self, url: str, *, before: int = 0, after: int = 0) -> None:
        super().__init__(url, None, seconds=60)
        self._before = before
        self._after = after

    def change(self, method: str, path: str, body: Any = None) -> Any:
        is_commit = (body or {}).get("sql") == "COMMIT"
        if is_commit and self._before:
            self._before -= 1
            raise Unavailable("The request was lost.")
        found = super().change(method, path, body)
        if is_commit and self._after:
            self._after -= 1
            self.get(f"{path}/{found['statement']}", wait_seconds=20)  # the commit has completed
            raise Unavailable("The answer was lost.")
        return found


@pytest.mark.parametrize(("lost", "tries"), [({"before": 2}, 3), ({"after": 1}, 1)])
def test_a_commit_with_a_lost_reply_applies_once(
    lost: dict[str, int], tries: int, client: Client, open_service: RunningService, make: Make
) -> None:
    place = ServedPlace(Client(Forgetful(open_service.address, **lost)))
    report = run_workbook(make({"a": {"sql": "INSERT INTO t VALUES (1, 'x')"}}), place)
    place.close()
    assert report.succeeded, report.failure()
    assert report.tasks["a"].tries == tries
    assert len(report.tasks["a"].snapshots) == 1
    assert rows(client) == [1]


def test_a_timed_out_task_is_cancelled_in_the_service(client: Client, make: Make) -> None:
    endless = "INSERT INTO t SELECT max(range % 7), 'x' FROM range(1000000000000000)"
    report = run_workbook(make({"a": {"sql": endless, "timeout_seconds": 1}}), ServedPlace(client))
    failure = report.failure()
    assert failure is not None
    assert "longer than 1 seconds" in failure.message
    assert rows(client) == []
