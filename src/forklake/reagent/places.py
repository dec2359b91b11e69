"""Interfaces of a metastore or a service that runs need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from forklake.catalog.service import CatalogService
    from forklake.engines.spark.public_types import DataFrame
    from forklake.errors import Cancelled
    from forklake.reagent.commit_tags import CommitTag
    from forklake.reagent.prepared_tasks import PreparedTask
    from forklake.reagent.reports import MergeReport
    from forklake.reagent.workbooks import Output
    from forklake.sql.parameters import Parameters
    from forklake.sql.results import Result
    from forklake.sql.session import Session


class Worker(Protocol):
    """Session of one worktask, used by one thread. Any thread may stop it."""

    @property
    def session_id(self) -> str:
        """Identifier of the session in the report."""

    @property
    def session(self) -> Session:
        """Session in this process. Raises Unsupported if the session belongs to a service."""

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> list[Result]:
        """Run statements and return their results; a service returns only the last one."""

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context whose changes are one transaction, committed once per commit tag."""

    def stop(self, reason: Cancelled) -> None:
        """Cancel the running statement. Call it repeatedly until the worker has ended."""

    def close(self) -> None:
        """Close the session."""


class Workspace(Protocol):
    """Catalog attached under the alias that worktasks use."""

    def open_worker(self, tag: CommitTag) -> Worker:
        """Open a session that uses the catalog."""

    def close(self) -> None:
        """Release the catalog."""


class Place(Protocol):
    """Metastore or service with the operations that runs need."""

    @property
    def catalogs(self) -> CatalogService:
        """Catalogs of the metastore or service."""

    def close(self) -> None:
        """Release its resources."""

    def require_supported(self, tasks: Sequence[PreparedTask]) -> None:
        """Raise Unsupported if a worktask needs what is not available here."""

    def open_workspace(self, catalog: str, alias: str) -> Workspace:
        """Attach a catalog for worktasks."""

    def fork(self, parent: str, name: str, tag: CommitTag, ttl: timedelta) -> None:
        """Fork a catalog with a time to live, for this run only."""

    def merge_fork(self, fork: str, parent: str, tag: CommitTag) -> MergeReport:
        """Merge a fork into its parent as one snapshot, or raise Conflict."""

    def publish_delta_table(self, catalog: str, output: Output) -> None:
        """Publish an output table as a Delta table, or update the Delta table."""


def count_changed_rows(results: Sequence[Any]) -> int | None:
    """Return the number of rows that statements changed, or None if none of them has a count."""
    counts = [
        int(one.data["Count"][0].as_py())
        for one in results
        if one.is_local and one.kind != "SELECT" and one.data.column_names == ["Count"]
    ]
    return sum(counts) if counts else None
