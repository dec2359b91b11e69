"""Workbooks of automations: loaded, and run for firings in this process."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from forklake.errors import ForklakeError, InvalidInput
from forklake.model.ids import SnapshotId
from forklake.reagent.automations.work import FiringHandler, FiringRun, expand_parameters
from forklake.reagent.run_plan import plan_run
from forklake.reagent.workbook_files import load_workbook, make_workbook
from forklake.reagent.workbook_run import run_workbook
from forklake.reagent.workbooks import Isolation, Workbook
from forklake.store.automations import Automation
from forklake.store.firings import Firing, State

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import SparkSession
    from forklake.reagent.local import LocalPlace
    from forklake.reagent.places import Place
    from forklake.reagent.reports import RunReport


def read_workbook(automation: Automation) -> Workbook:
    """Return the workbook of an automation with the isolation of the automation."""
    found = _load_workbook(automation)
    if automation.isolation is not None:
        found = replace(found, isolation=Isolation(automation.isolation))
    return found


def _load_workbook(automation: Automation) -> Workbook:
    if automation.workbook_path is not None:
        return load_workbook(automation.workbook_path)
    try:
        document = tomllib.loads(automation.workbook_text or "")
    except ValueError as reason:
        raise InvalidInput(
            f"The workbook of automation '{automation.name}' is not valid TOML: {reason}.",
            remedy="Correct it, and add the automation again.",
        ) from None
    return make_workbook({"name": automation.name, **document}, automation.name)


def check_workbook(automation: Automation, catalog: str) -> None:
    """Raise InvalidInput if a run of the workbook of an automation could not start."""
    example = Firing(automation.automation_id, "", None, State.WAITING, automation.created_at)
    given = expand_parameters(automation, replace(example, snapshot_id=automation.seen_snapshot))
    plan_run(read_workbook(automation), catalog=catalog, parameters=given)


@contextmanager
def workbooks(
    uri: str, metadata_schema: str | None = None, *, spark: SparkSession | None = None
) -> Iterator[FiringHandler]:
    """Yield a function that runs workbooks on a metastore. It starts Spark only if needed."""
    from forklake.reagent.local import LocalPlace

    with LocalPlace(uri, metadata_schema=metadata_schema, spark=spark) as place:
        yield partial(perform, place)


def perform(place: LocalPlace | Place, work: FiringRun) -> SnapshotId | None:
    """Run the workbook of a firing and return its last snapshot.

    The key of the firing is the id of the run, so that a retry does not commit again what an
    earlier try has committed.
    """
    report = run_workbook(
        read_workbook(work.automation),
        place,
        catalog=work.catalog,
        parameters=work.parameters,
        run_id=work.key,
        on_change=lambda run, task: work.check(),
    )
    failure = report.failure()
    if failure is not None:
        raise ForklakeError(failure.message, remedy=failure.remedy)
    return _newest_snapshot(report)


def _newest_snapshot(report: RunReport) -> SnapshotId | None:
    if report.publication is not None:
        published = report.publication.snapshot_id
        return None if published is None else SnapshotId(published)
    made = [number for task in report.tasks.values() for number in task.snapshots]
    return SnapshotId(max(made)) if made else None
