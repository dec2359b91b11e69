"""Many concurrent worktasks on one catalog, each in its own session."""

from __future__ import annotations

import pytest

from forklake.reagent import LocalPlace, run_workbook
from forklake.reagent.scheduler import TaskState
from tests.reagent.conftest import Make

TASKS = 64


@pytest.fixture
def backend() -> str:
    """Return the backend with concurrent writers."""
    return "postgresql"


def test_sixty_four_worktasks_produce_one_linear_history(
    metadata_only: LocalPlace, make: Make
) -> None:
    tasks = {
        f"task-{number}": {"sql": f"INSERT INTO t VALUES ({number}, 'a'), ({number}, 'b')"}
        for number in range(TASKS)
    }
    report = run_workbook(make(tasks), metadata_only, workers=TASKS)

    assert report.succeeded, report.failure()
    done = report.tasks.values()
    assert {one.state for one in done} == {TaskState.DONE}
    assert {one.rows for one in done} == {2}
    assert len({one.session for one in done}) == TASKS
    assert all(one.seconds > 0 for one in done)
    # Each is exactly one snapshot, and together they are the whole history without gaps.
    snapshots = sorted(number for one in done for number in one.snapshots)
    assert [len(one.snapshots) for one in done] == [1] * TASKS
    catalog = metadata_only.catalogs.catalog("sales")
    history = catalog.snapshots()
    assert [one.snapshot_id for one in history[-TASKS:]] == snapshots
    assert len(set(snapshots)) == TASKS
    times = [one.snapshot_time for one in history]
    assert times == sorted(times)
    assert {one.author for one in history[-TASKS:]} == {"book"}
    view = catalog.now()
    rows = view.inlined_rows(view.state.table("t"))
    assert len({row.row_id for row in rows}) == len(rows) == 2 * TASKS


def test_concurrent_tasks_may_create_the_same_table(metadata_only: LocalPlace, make: Make) -> None:
    """A task that loses the race finds the table on its retry."""
    statement = "CREATE TABLE IF NOT EXISTS u (id INTEGER); INSERT INTO u VALUES ({})"
    tasks = {f"task-{at}": {"sql": statement.format(at), "retries": 20} for at in range(8)}
    report = run_workbook(make(tasks), metadata_only, workers=8)
    assert report.succeeded, report.failure()
    view = metadata_only.catalogs.catalog("sales").now()
    assert len(view.inlined_rows(view.state.table("u"))) == 8
