"""Reports of runs, as JSON and as a page."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

from forklake.model.ids import SnapshotId
from forklake.model.merge_outcomes import Merged, TableMerge
from forklake.reagent.pages import build_chart, render_page
from forklake.reagent.reports import (
    CheckResult,
    ReportedError,
    RunReport,
    TaskReport,
    make_merge_report,
)
from forklake.reagent.scheduler import TaskState

BEGAN = datetime(2026, 1, 31, 6, tzinfo=UTC)


def task(name: str, state: TaskState, start: float, end: float, **more: object) -> TaskReport:
    """Return a task that ran during the given seconds of the run."""
    found = TaskReport(name, [], state)
    found.began, found.ended = (BEGAN + timedelta(seconds=at) for at in (start, end))
    for key, value in more.items():
        setattr(found, key, value)
    return found


def report(*tasks: TaskReport) -> RunReport:
    """Return a run of tasks."""
    named = {one.name: one for one in tasks}
    found = RunReport("r1", "<book>", "sales", "fork", {"day": "2026"}, named, BEGAN)
    found.ended = BEGAN + timedelta(seconds=10)
    return found


FAILED = task(
    "b & c", TaskState.FAILED, 4, 10, error=ReportedError("not_found", "No <table>", "Make one")
)
DONE = task(
    "a",
    TaskState.DONE,
    0,
    4,
    rows=1200,
    snapshots=[7, 9],
    session="s-1",
    checks=[CheckResult("few", False, "6 rows found", warn=True)],
)


def test_a_run_fails_with_one_of_its_tasks_or_its_end() -> None:
    assert report(DONE).succeeded
    failed = report(DONE, FAILED)
    assert not failed.succeeded
    assert failed.failure() == FAILED.error
    unpublished = report(DONE)
    unpublished.error = ReportedError("conflict", "Row 5", "")
    assert not unpublished.succeeded
    assert unpublished.failure() == unpublished.error


def test_the_document_is_plain_json(tmp_path: Path) -> None:
    found = report(DONE, FAILED, TaskReport("never", ["a"], TaskState.SKIPPED))
    as_json, _ = found.write(tmp_path / "new" / "folder")
    reported = json.loads(as_json.read_text())
    assert reported == found.document()
    assert (reported["run_id"], reported["succeeded"], reported["seconds"]) == ("r1", False, 10.0)
    assert [one["seconds"] for one in reported["tasks"]] == [4.0, 6.0, 0.0]
    assert reported["tasks"][0]["snapshots"] == [7, 9]
    assert reported["tasks"][1]["error"] == {
        "code": "not_found",
        "message": "No <table>",
        "remedy": "Make one",
    }


def test_the_page_is_complete_and_self_contained(tmp_path: Path) -> None:
    found = report(DONE, FAILED, TaskReport("never", ["a"], TaskState.SKIPPED))
    table = TableMerge("main.t", appended_rows=5, appended_files=1)
    found.publication = make_merge_report(Merged("run", "sales", SnapshotId(15), (table,)))
    text = render_page(found)
    for part in ("&lt;book&gt;", "No &lt;table&gt;", "Make one", "b &amp; c", "1,200", "7, 9"):
        assert part in text
    for part in ("s-1", "6 rows found", "warning", "skipped", "Snapshot 15 of sales", "main.t"):
        assert part in text
    assert "<table>No" not in text
    for link in ("src=", "href=", "url(", "<script", "http"):
        assert link not in text
    drawing = text[text.index("<svg") : text.index("</svg>") + 6]
    bars = ElementTree.fromstring(drawing).findall("rect")
    assert [one.get("class") for one in bars] == ["done", "failed"]


def test_the_chart_spans_the_run() -> None:
    found = build_chart(report(FAILED, DONE))
    assert [one.task.name for one in found.bars] == ["a", "b & c"]
    assert [(one.left, one.width) for one in found.bars] == [(0.0, 40.0), (40.0, 60.0)]
    assert [label for _, label in found.ticks] == ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]
    assert build_chart(report(TaskReport("x", []))).bars == []
    instant = build_chart(report(task("x", TaskState.DONE, 0, 0)))
    assert instant.bars[0].width > 0
