"""Execution of workbooks: parallel worktasks, each in its own session, and the report."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from forklake.errors import Cancelled, ForklakeError, Unavailable
from forklake.reagent.attempts import Attempt
from forklake.reagent.commit_tags import CommitTag, snapshots_by_task
from forklake.reagent.failures import to_error
from forklake.reagent.isolation import ISOLATIONS, DirectIsolation
from forklake.reagent.places import Place
from forklake.reagent.prepared_tasks import PreparedTask
from forklake.reagent.reports import ReportedError, RunReport, TaskReport
from forklake.reagent.run_plan import RunPlan, plan_run
from forklake.reagent.scheduler import Scheduler, TaskState
from forklake.reagent.workbooks import Workbook
from forklake.reagent.worktasks import TaskResult, perform

OnChange = Callable[[RunReport, TaskReport], None]
_WAIT = wait_random_exponential(multiplier=0.1, max=10.0)


def run_workbook(
    workbook: Workbook, place: Place, *, on_change: OnChange | None = None, **options: Any
) -> RunReport:
    """Run a workbook and return the report, which contains errors.

    Options are those of `plan_run`. The callback is called when the state of a worktask changes.
    """
    return WorkbookRun(plan_run(workbook, **options), place, on_change).run()


class WorkbookRun:
    """One run of a plan."""

    def __init__(self, plan: RunPlan, place: Place, on_change: OnChange | None = None) -> None:
        self._plan = plan
        self._place = place
        self._on_change = on_change or (lambda run, task: None)
        self._guard = threading.Lock()
        self._attempts: dict[str, Attempt] = {}
        self._stopping: Cancelled | None = None
        self.report = _blank_report(plan)

    def run(self) -> RunReport:
        """Run the plan and return the report."""
        plan, report = self._plan, self.report
        self._place.require_supported(list(plan.tasks.values()))
        isolation = ISOLATIONS[plan.workbook.isolation](
            self._place, plan.catalog, self._tag(), timedelta(seconds=plan.workbook.fork_seconds)
        )
        try:
            isolation.enter()
            self._perform_all(isolation)
            self._finish(isolation)
            self._list_snapshots(isolation)
        finally:
            report.fork = isolation.leave(keep=plan.keep_fork and not report.succeeded)
            report.ended = datetime.now(UTC)
        return report

    def _tag(self, task: str | None = None) -> CommitTag:
        return CommitTag(self._plan.run_id, self._plan.workbook.name, task)

    def _perform_all(self, isolation: DirectIsolation) -> None:
        workers = isolation.most_workers or self._plan.workbook.workers
        self.report.workers = workers
        scheduler = Scheduler(
            self._plan.graph,
            lambda name: self._perform(isolation, name),
            workers=workers,
            keep_going=self._plan.workbook.keep_going and not isolation.is_inside,
            on_tick=self._enforce_stops,
            stop=self._stop,
        )
        for name, state in scheduler.run().items():
            task = self.report.tasks[name]
            task.state = state
            self._on_change(self.report, task)

    def _finish(self, isolation: DirectIsolation) -> None:
        """Commit or merge the changes of the run if all worktasks succeeded."""
        if not self.report.succeeded:
            return
        try:
            self.report.publication = isolation.finish()
            for task in self._plan.tasks.values():
                if task.output is not None and task.output.delta is not None:
                    self._place.publish_delta_table(self._plan.catalog, task.output)
        except ForklakeError as error:
            self.report.error = ReportedError.of(error)

    def _list_snapshots(self, isolation: DirectIsolation) -> None:
        found: Mapping[str | None, list[int]] = {}
        with suppress(Unavailable):  # only the list of snapshots is lost, not the work
            found = snapshots_by_task(isolation.history(), self._plan.run_id)
        for name, task in self.report.tasks.items():
            task.snapshots = found.get(name, []) or (
                found.get(None, []) if isolation.is_inside else []
            )

    # One worktask

    def _perform(self, isolation: DirectIsolation, name: str) -> TaskState:
        task = self._plan.tasks[name]
        report = self.report.tasks[name]
        report.began, report.state = datetime.now(UTC), TaskState.RUNNING
        attempt = Attempt(task.task.timeout_seconds)
        with self._guard:
            self._attempts[name] = attempt
        self._on_change(self.report, report)
        try:
            self._run_with_retries(isolation, task, report, attempt)
            report.state = TaskState.DONE
        except BaseException as reason:  # noqa: BLE001 - every error ends only this worktask
            error = attempt.reason or to_error(reason)
            report.error = ReportedError.of(error)
            report.state = TaskState.CANCELLED if error is self._stopping else TaskState.FAILED
        finally:
            report.ended = datetime.now(UTC)
            with self._guard:
                del self._attempts[name]
        self._on_change(self.report, report)
        return report.state

    def _run_with_retries(
        self, isolation: DirectIsolation, task: PreparedTask, report: TaskReport, attempt: Attempt
    ) -> None:
        """Run a worktask. Retry after transient errors up to the limit of the task."""
        tries = 1 if isolation.is_inside else 1 + task.task.retries
        for one in Retrying(
            retry=retry_if_exception(lambda reason: getattr(reason, "retryable", False)),
            stop=stop_after_attempt(tries),
            wait=_WAIT,
            sleep=attempt.sleep,
            reraise=True,
        ):
            with one, isolation.open_worker(self._tag(task.name)) as worker:
                report.tries += 1
                report.session = worker.session_id
                done = TaskResult()
                try:
                    with attempt.run_on(worker):
                        perform(worker, task, done, attempt.proceed, is_inside=isolation.is_inside)
                finally:
                    report.rows, report.checks = done.rows, done.checks

    # Stopping

    def _enforce_stops(self) -> None:
        with self._guard:
            running = dict(self._attempts)
        for name, attempt in running.items():
            if self._stopping is not None:
                attempt.stop(self._stopping)
            attempt.enforce_stop(name)

    def _stop(self) -> None:
        self._stopping = Cancelled(
            "The run was stopped.", remedy="See the error of the first failed task."
        )
        self._enforce_stops()


def _blank_report(plan: RunPlan) -> RunReport:
    workbook = plan.workbook
    tasks = {name: TaskReport(name, sorted(needs)) for name, needs in plan.graph.items()}
    own = {name: plan.values[name] for name in (*workbook.parameters, *workbook.required)}
    return RunReport(
        run_id=plan.run_id,
        workbook=workbook.name,
        catalog=plan.catalog,
        isolation=workbook.isolation.value,
        parameters=own,
        tasks=tasks,
        began=datetime.now(UTC),
    )
