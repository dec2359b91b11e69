"""Maintenance runs requested by users: queued, executed one at a time in the background."""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from forklake import maintenance
from forklake.catalog.catalog import Catalog
from forklake.crucible.logs import log_event
from forklake.errors import ForklakeError, QuotaExceeded

if TYPE_CHECKING:
    from forklake.sql.session import Session

_RETAINED = 1000  # runs that are listed
MOST_WAITING = 16  # queued runs per catalog


class Operation(StrEnum):
    """Maintenance operation."""

    EXPIRE = "expire"
    CLEANUP = "cleanup"
    MERGE = "merge"
    FLUSH = "flush"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class MaintenanceRequest:
    """Parameters of a run."""

    operation: Operation
    table: str | None = None
    schema: str | None = None
    older_than: datetime | None = None
    dry_run: bool = False


@dataclass(slots=True)
class MaintenanceRun:
    """Maintenance run. `state` is queued, running, done or failed."""

    run: str
    catalog_id: int
    request: MaintenanceRequest
    started: datetime
    state: str = "queued"
    ended: datetime | None = None
    count: int | None = None
    error: str | None = None
    finished: Future[None] = field(default_factory=Future, repr=False)

    @property
    def unit(self) -> str:
        """What `count` counts."""
        return _UNITS[self.request.operation]


_UNITS = {
    Operation.EXPIRE: "snapshots",
    Operation.CLEANUP: "files",
    Operation.MERGE: "tables",
    Operation.FLUSH: "tables",
    Operation.REWRITE: "tables",
}
# Operations on the metastore only.
_PLAIN: dict[Operation, Callable[[Catalog, MaintenanceRequest], int]] = {
    Operation.EXPIRE: lambda catalog, request: len(
        catalog.expire_snapshots(older_than=request.older_than, dry_run=request.dry_run)
    ),
    Operation.CLEANUP: lambda catalog, request: len(
        catalog.cleanup_old_files(older_than=request.older_than, dry_run=request.dry_run)
    ),
}
# Operations that rewrite data files, with Spark.
_MOVING: dict[Operation, Callable[..., list[object]]] = {
    Operation.MERGE: lambda *place: list(maintenance.merge_adjacent_files(*place)),
    Operation.FLUSH: lambda *place: list(maintenance.flush_inlined_data(*place)),
    Operation.REWRITE: lambda *place: list(maintenance.rewrite_data_files(*place)),
}


class MaintenanceRuns:
    """Maintenance runs of one service, in the order of the requests."""

    def __init__(self, open_session: Callable[[Catalog, str], Session]) -> None:
        self._open_session = open_session
        self._runs: deque[MaintenanceRun] = deque(maxlen=_RETAINED)
        self._guard = threading.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="maintenance")

    def start(self, catalog: Catalog, request: MaintenanceRequest) -> MaintenanceRun:
        """Queue a run and return it. Raise QuotaExceeded if too many runs are queued."""
        run = MaintenanceRun(uuid.uuid4().hex, catalog.catalog_id, request, datetime.now(UTC))
        with self._guard:
            own = [one for one in self._runs if one.catalog_id == run.catalog_id]
            if sum(one.state == "queued" for one in own) >= MOST_WAITING:
                raise QuotaExceeded(
                    f"Catalog '{catalog.name}' already has {MOST_WAITING} queued maintenance runs.",
                    remedy="Wait until some of them have ended, and try again.",
                )
            self._runs.appendleft(run)
            self._worker.submit(self._execute, catalog, run)
        return run

    def runs(self, catalog: Catalog) -> list[MaintenanceRun]:
        """Return the runs of a catalog, newest first."""
        with self._guard:
            return [run for run in self._runs if run.catalog_id == catalog.catalog_id]

    def close(self) -> None:
        """Cancel queued runs and wait for the running one."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _execute(self, catalog: Catalog, run: MaintenanceRun) -> None:
        run.state = "running"
        try:
            run.count = self._run_operation(catalog, run.request)
            run.state = "done"
        except ForklakeError as error:
            run.state, run.error = "failed", str(error)
        except Exception:  # noqa: BLE001 - a failing run must not stop the worker
            log_event("maintenance failed", failed=True, run=run.run)
            run.state, run.error = "failed", "Internal error. See the log of the service."
        finally:
            run.ended = datetime.now(UTC)
            run.finished.set_result(None)

    def _run_operation(self, catalog: Catalog, request: MaintenanceRequest) -> int:
        if request.operation in _PLAIN:
            return _PLAIN[request.operation](catalog, request)
        alias = f"_upkeep_{int(catalog.catalog_id)}"
        with self._open_session(catalog, alias) as session:
            return len(_MOVING[request.operation](session, alias, request.table, request.schema))
