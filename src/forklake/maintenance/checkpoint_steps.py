"""checkpoint: all maintenance operations of a catalog, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.file_listings import keep_listings
from forklake.errors import InvalidInput
from forklake.maintenance.expiry import writable

if TYPE_CHECKING:
    from forklake.session.session import Session


@dataclass(frozen=True, slots=True)
class MaintenanceStep:
    """One executed maintenance operation, with the amount of work and its duration."""

    catalog: str
    operation: str
    count: int
    unit: str
    seconds: float


def checkpoint(session: Session, alias: str) -> list[MaintenanceStep]:
    """Flush, expire, merge, rewrite, list, clean up and delete orphans, as the options define."""
    if session.in_transaction:
        raise InvalidInput(
            "A checkpoint cannot run inside a transaction.",
            remedy="Run COMMIT or ROLLBACK first.",
        )
    return list(run_steps(writable(session, alias), compaction_jobs(session, alias)))


Job = Callable[[], int]


def compaction_jobs(session: Session, alias: str) -> dict[str, tuple[str, Job]]:
    """Return the operations that need Spark: name -> (unit, function that returns a count)."""
    from forklake.maintenance.file_merges import merge_adjacent_files
    from forklake.maintenance.file_rewrites import rewrite_data_files
    from forklake.maintenance.flush import flush_inlined_data

    def flush() -> int:
        return sum(one.rows_flushed for one in flush_inlined_data(session, alias))

    def merge() -> int:
        return sum(one.files_processed for one in merge_adjacent_files(session, alias))

    def rewrite() -> int:
        return sum(one.files_processed for one in rewrite_data_files(session, alias))

    return {
        "flush_inlined_data": ("rows", flush),
        "merge_adjacent_files": ("files", merge),
        "rewrite_data_files": ("files", rewrite),
    }


def run_steps(
    catalog: Catalog,
    compactions: dict[str, tuple[str, Job]] | None = None,
    *,
    until: float | None = None,
) -> Iterator[MaintenanceStep]:
    """Run one operation after another, and yield each once it is done.

    No operation starts after `until` (monotonic clock).
    """
    jobs: dict[str, tuple[str, Job]] = dict(compactions or {})
    jobs["expire_snapshots"] = ("snapshots", lambda: len(catalog.expire_snapshots()))
    jobs["cleanup_old_files"] = ("files", lambda: len(catalog.cleanup_old_files()))
    jobs["list_files"] = ("tables", lambda: keep_listings(catalog))
    jobs["delete_orphaned_files"] = ("files", lambda: len(catalog.delete_orphaned_files()))
    for operation in _ORDER:
        if operation in jobs and (until is None or time.monotonic() < until):
            unit, run = jobs[operation]
            began = time.monotonic()
            count = run()
            yield MaintenanceStep(catalog.name, operation, count, unit, time.monotonic() - began)


_ORDER = (
    "flush_inlined_data",
    "expire_snapshots",
    "merge_adjacent_files",
    "rewrite_data_files",
    "list_files",
    "cleanup_old_files",
    "delete_orphaned_files",
)
