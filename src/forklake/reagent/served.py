"""Service that runs worktasks: each is SQL in a session of the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from forklake.client import Client
from forklake.client.sessions import RemoteStatement
from forklake.errors import Cancelled, ForklakeError, Unavailable, Unsupported
from forklake.reagent.commit_tags import CommitTag, snapshots_by_task, snapshots_since
from forklake.reagent.prepared_tasks import PreparedTask
from forklake.reagent.reports import MergeReport, make_merge_report
from forklake.reagent.workbooks import Output
from forklake.session.names import joined_name
from forklake.sql.parameters import Parameters
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session


class ServedWorker:
    """Session of a worktask at a service."""

    def __init__(self, client: Client, catalog: str, alias: str, tag: CommitTag) -> None:
        self._catalog = client.catalog(catalog)
        self._began = self._catalog.snapshot_at()
        self._session = client.session(catalog, alias=alias)
        self.session_id = self._session.session_id
        self._alias = alias
        self._tag = tag
        self._running: RemoteStatement | None = None

    @property
    def session(self) -> Session:
        """Raises Unsupported: the session is in another process."""
        raise _unsupported("what needs Spark in this process")

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        frames: Mapping[str, DataFrame] | None = None,
    ) -> list[Result]:
        """Run statements and return the result of the last one."""
        self._running = self._session.submit(text, parameters)
        try:
            return [self._running.result()]
        finally:
            self._running = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one transaction: commit at its end, roll back on errors."""
        self.execute("BEGIN")
        info = self._tag.apply_to()
        name = joined_name([self._alias])
        self.execute(
            f"CALL {name}.set_commit_message(?, ?, extra_info => ?)",
            [info.author, info.message, info.extra_info],
        )
        try:
            yield
        except BaseException:
            with suppress(ForklakeError):  # a lost session is rolled back by the service
                self.execute("ROLLBACK")
            raise
        self._commit()

    def _commit(self) -> None:
        """Commit. If the response is lost, look for the commit before anything is retried.

        The session is closed first, so that it cannot commit after the look.
        """
        try:
            self.execute("COMMIT")
        except Unavailable:
            try:
                self.close()
                committed = snapshots_by_task(
                    snapshots_since(self._catalog, self._began), self._tag.run_id
                )
            except Unavailable as reason:
                raise ForklakeError(
                    f"The outcome of the commit of {self._tag.apply_to().message} is unknown:"
                    f" {reason.message}",
                    remedy="Before running it again, look for it in the snapshots of the catalog:"
                    " forklake snapshots.",
                ) from None
            if self._tag.task not in committed:
                raise

    def stop(self, reason: Cancelled) -> None:
        """Cancel the running statement."""
        running = self._running
        if running is not None:
            with suppress(ForklakeError):
                running.cancel()

    def close(self) -> None:
        """Close the session."""
        self._session.close()


class ServedWorkspace:
    """Catalog of a service, for worktasks."""

    def __init__(self, client: Client, catalog: str, alias: str) -> None:
        self._client = client
        self._catalog = catalog
        self._alias = alias

    def open_worker(self, tag: CommitTag) -> ServedWorker:
        """Open a session that uses the catalog."""
        return ServedWorker(self._client, self._catalog, self._alias, tag)

    def close(self) -> None:
        """Do nothing: no resources are held."""


class ServedPlace:
    """Service with its catalogs."""

    def __init__(self, client: Client) -> None:
        self.catalogs = client

    def close(self) -> None:
        """Close all connections to the service."""
        self.catalogs.close()

    def require_supported(self, tasks: Sequence[PreparedTask]) -> None:
        """Raise Unsupported unless all worktasks are SQL over tables and files of the service."""
        for task in tasks:
            needs = {
                "a function": task.function is not None,
                "inputs": bool(task.inputs),
                "a Delta table as output": task.output is not None and bool(task.output.delta),
                "separate commits (atomic = false)": not task.task.atomic,
            }
            for what, is_needed in needs.items():
                if is_needed:
                    raise _unsupported(f"{what}, which task '{task.name}' needs")

    def open_workspace(self, catalog: str, alias: str) -> ServedWorkspace:
        """Return a catalog for worktasks. Each worker attaches it."""
        return ServedWorkspace(self.catalogs, catalog, alias)

    def fork(self, parent: str, name: str, tag: CommitTag, ttl: timedelta) -> None:
        """Fork a catalog with a time to live."""
        self.catalogs.fork(parent, name, ttl=ttl)

    def merge_fork(self, fork: str, parent: str, tag: CommitTag) -> MergeReport:
        """Merge a fork into its parent as one snapshot, or raise Conflict."""
        info = tag.apply_to()
        merged = self.catalogs.merge(
            fork,
            into=parent,
            message=info.message,
            extra_info=info.extra_info,
            idempotency_key=tag.key,
        )
        return make_merge_report(merged)

    def publish_delta_table(self, catalog: str, output: Output) -> None:
        """Raise Unsupported."""
        raise _unsupported("Delta tables as outputs")


def _unsupported(what: str) -> Unsupported:
    return Unsupported(
        f"A service runs only SQL, not {what}.",
        remedy="Use files and tables in the SQL itself, or run the workbook without --server.",
    )
