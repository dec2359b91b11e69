"""Scenario with many worktasks of one workbook: processes with sessions in one catalog.

A killed task is resumed at the last step that its table contains. Each step has an idempotency key:
if its answer was lost and it is repeated, it is applied once.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from tests.fix_metastore import Place

from forklake import Catalog, ColumnSpec, Metastore
from forklake.errors import AlreadyExists
from stress.crews import read_journals
from stress.scenarios.scenario import Scenario
from stress.workers import Role, Worker

CATALOG, RESULTS = "workbook", "results"
_COLUMNS = (ColumnSpec("task", "bigint"), ColumnSpec("step", "bigint"))


class Worktasks(Scenario):
    """Invariant: all tasks finish, each step happens once, and the catalog has one history."""

    name = "worktasks"

    def prepare(self) -> None:
        with self.ground.place.open() as metastore:
            catalog = metastore.create_catalog(CATALOG, data_path=str(self.ground.lake))
            with catalog.transaction() as transaction:
                transaction.create_table(RESULTS, _COLUMNS)

    def roles(self) -> list[Role]:
        places = islice(self.ground.places(), self.size.tasks)
        return [Worktask(place, number, self.size.steps) for number, place in enumerate(places)]

    def verify(self, journals: Path) -> Iterator[str]:
        noted = [one for one in read_journals(journals) if one["kind"] in ("step", "finished")]
        done = [one for one in noted if one.get("outcome") == "ok"]
        steps = {one["task"]: one["steps"] for one in noted if one["kind"] == "finished"}
        self.facts["tasks"] = _summaries(done)
        if len(steps) != self.size.tasks:
            yield f"{len(steps)} of {self.size.tasks} worktasks finished"
        with self.ground.place.open() as metastore:
            yield from self._verify_rows(metastore, steps)
            yield from self._verify_history(
                metastore.catalog(CATALOG), done, 2 + len(steps) + sum(steps.values())
            )

    def _verify_rows(self, metastore: Metastore, steps: dict[int, int]) -> Iterator[str]:
        seen = metastore.catalog(CATALOG).now()
        rows = seen.inlined_rows(seen.state.table(RESULTS))
        found = Counter(tuple(row.values.values()) for row in rows)
        expected = Counter((task, step) for task in steps for step in range(steps[task]))
        if found != expected:
            yield f"results differ: missing {expected - found}, too many {found - expected}"
        for task, count in steps.items():
            own = seen.statistics(seen.state.table(f"task_{task}")).record_count
            if own != count:
                yield f"the table of worktask {task} has {own} rows instead of {count}"

    def _verify_history(
        self, catalog: Catalog, done: list[dict[str, Any]], expected: int
    ) -> Iterator[str]:
        history = catalog.snapshots()
        self.facts["snapshots"] = len(history)
        for one, other in pairwise(history):
            if one.snapshot_id >= other.snapshot_id or one.snapshot_time >= other.snapshot_time:
                yield f"the history is not ordered: {one} before {other}"
        if len(history) != expected:
            yield f"there are {len(history)} snapshots instead of {expected}"
        lost = {one["result"] for one in done} - {one.snapshot_id for one in history}
        if lost:
            yield f"acknowledged snapshots are lost: {lost}"


@dataclass(frozen=True)
class Worktask:
    """Role that creates a table, then adds rows to it and to a shared table, step by step.

    It runs at least `steps` steps, and continues until the time is over.
    """

    place: Place
    task: int
    steps: int

    def __call__(self, worker: Worker) -> None:
        with worker.opened(self.place) as metastore:
            catalog = worker.catalog(metastore, CATALOG)
            worker.persist("table", lambda: self._make_table(catalog))
            step = worker.persist("resume", lambda: self._taken(catalog))
            while step < self.steps or time.monotonic() < worker.until:
                facts = {"task": self.task, "step": step, "session": os.getpid()}
                worker.persist("step", partial(self._do, catalog, step), **facts)
                step += 1
            worker.note("finished", task=self.task, steps=step)

    def _make_table(self, catalog: Catalog) -> bool:
        with suppress(AlreadyExists), catalog.transaction() as transaction:
            transaction.create_table(f"task_{self.task}", _COLUMNS)
        return True

    def _taken(self, catalog: Catalog) -> int:
        """Return how many steps earlier processes of this task have completed."""
        seen = catalog.now()
        return seen.statistics(seen.state.table(f"task_{self.task}")).record_count

    def _do(self, catalog: Catalog, step: int) -> int:
        key = f"{self.task}-{step}"
        row = {"task": self.task, "step": step}
        with catalog.transaction(idempotency_key=key, message=key) as transaction:
            transaction.insert_rows(transaction.table(RESULTS), [row])
            transaction.insert_rows(transaction.table(f"task_{self.task}"), [row])
        assert transaction.committed is not None
        return transaction.committed.snapshot_id


def _summaries(done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each task with its sessions, its snapshots and its duration."""
    by_task: dict[int, list[dict[str, Any]]] = {}
    for one in done:
        by_task.setdefault(one["task"], []).append(one)
    return [
        {
            "task": task,
            "sessions": sorted({one["session"] for one in steps}),
            "first snapshot": min(one["result"] for one in steps),
            "last snapshot": max(one["result"] for one in steps),
            "seconds": round(
                max(one["at"] + one["seconds"] for one in steps) - min(one["at"] for one in steps),
                3,
            ),
        }
        for task, steps in sorted(by_task.items())
    ]
