"""Report of a run: the result of each worktask and of the merge, and their JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forklake.errors import ForklakeError
from forklake.model.merge_outcomes import Merged
from forklake.reagent.scheduler import TaskState
from forklake.reagent.workbooks import Value

_REPORTED = ("table", "appended_rows", "appended_files", "updated", "deleted")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check."""

    name: str
    passed: bool
    found: str
    warn: bool = False


@dataclass(frozen=True, slots=True)
class ReportedError:
    """Error of a worktask or a run, with its remedy."""

    code: str
    message: str
    remedy: str

    @classmethod
    def of(cls, error: ForklakeError) -> ReportedError:
        """Copy the code and the texts of an error."""
        return cls(error.code, error.message, error.remedy)


@dataclass(frozen=True, slots=True)
class MergeReport:
    """Result of merging the fork of a run into its parent."""

    snapshot_id: int | None
    tables: tuple[Mapping[str, Any], ...] = ()


def make_merge_report(merged: Merged) -> MergeReport:
    """Return the part of the result of a merge that reports contain."""
    tables = ({name: getattr(one, name) for name in _REPORTED} for one in merged.tables)
    return MergeReport(merged.snapshot_id, tuple(tables))


@dataclass(slots=True)
class TaskReport:
    """TaskState of a worktask, and at the end its result."""

    name: str
    after: list[str]
    state: TaskState = TaskState.WAITING
    session: str = ""
    tries: int = 0
    rows: int | None = None
    snapshots: list[int] = field(default_factory=list)
    began: datetime | None = None
    ended: datetime | None = None
    checks: list[CheckResult] = field(default_factory=list)
    error: ReportedError | None = None

    @property
    def seconds(self) -> float:
        """Run time so far."""
        if self.began is None:
            return 0.0
        return ((self.ended or datetime.now(UTC)) - self.began).total_seconds()


@dataclass(slots=True)
class RunReport:
    """TaskState of a run, and at the end its result."""

    run_id: str
    workbook: str
    catalog: str
    isolation: str
    parameters: Mapping[str, Value]
    tasks: dict[str, TaskReport]
    began: datetime
    ended: datetime | None = None
    workers: int = 1
    fork: str | None = None  # name of the fork, if it is kept for inspection
    publication: MergeReport | None = None
    error: ReportedError | None = None

    @property
    def succeeded(self) -> bool:
        """Whether all worktasks are done and the run has no error."""
        done = all(one.state is TaskState.DONE for one in self.tasks.values())
        return done and self.error is None

    @property
    def seconds(self) -> float:
        """Run time so far."""
        return ((self.ended or datetime.now(UTC)) - self.began).total_seconds()

    def failure(self) -> ReportedError | None:
        """Return the error of the run, or else of the first worktask that failed."""
        failed = (one for one in self.tasks.values() if one.state is TaskState.FAILED)
        return self.error or next((one.error for one in failed if one.error), None)

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON document."""
        found = asdict(self)
        found["succeeded"], found["seconds"] = self.succeeded, round(self.seconds, 3)
        found["tasks"] = [
            {**asdict(task), "seconds": round(task.seconds, 3)} for task in self.tasks.values()
        ]
        plain: dict[str, Any] = json.loads(json.dumps(found, default=_encode_value))
        return plain

    def write(self, folder: str | Path) -> tuple[Path, Path]:
        """Write the report to a folder as JSON and HTML; return the two paths."""
        from forklake.reagent.pages import render_page

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        as_json, as_html = (target / f"{self.run_id}.{ending}" for ending in ("json", "html"))
        as_json.write_text(json.dumps(self.document(), indent=2) + "\n", encoding="utf-8")
        as_html.write_text(render_page(self), encoding="utf-8")
        return as_json, as_html


def _encode_value(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
