"""Metastore that this process opens to run worktasks, with Spark in this process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from forklake.catalog.delta_tables import find_face
from forklake.catalog.metastore import Metastore, open_metastore
from forklake.crucible.sessions.engines import EngineFactory
from forklake.model.closeable import Closing
from forklake.model.requests import MergeRequest
from forklake.reagent.commit_tags import CommitTag
from forklake.reagent.prepared_tasks import PreparedTask
from forklake.reagent.reports import MergeReport, make_merge_report
from forklake.reagent.sessions import LocalWorker, StoppableGuard, TaskSession
from forklake.reagent.workbooks import Output
from forklake.session.names import joined_name

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine
    from forklake.engines.spark.public_types import SparkSession


class LocalWorkspace:
    """Catalog that is attached once for all worktasks."""

    def __init__(self, session: TaskSession) -> None:
        self._session = session

    def open_worker(self, tag: CommitTag) -> LocalWorker:
        """Open a session that uses the catalog."""
        return LocalWorker(self._session.duplicate(tag, StoppableGuard()), tag.key)

    def close(self) -> None:
        """Detach the catalog."""
        self._session.close()


class LocalPlace(Closing):
    """Metastore at an address, to be used as a context manager."""

    def __init__(
        self, uri: str, *, metadata_schema: str | None = None, spark: SparkSession | None = None
    ) -> None:
        self._uri = uri
        self._metadata_schema = metadata_schema
        self._engines = EngineFactory(lambda: _start_engine(spark))
        self.catalogs: Metastore = open_metastore(uri, metadata_schema=metadata_schema)

    def close(self) -> None:
        """Close the metastore and release Spark."""
        self._engines.close()
        self.catalogs.close()

    def require_supported(self, tasks: Sequence[PreparedTask]) -> None:
        """Accept all worktasks: nothing is unsupported in this process."""

    def open_workspace(self, catalog: str, alias: str) -> LocalWorkspace:
        """Attach a catalog for worktasks."""
        return LocalWorkspace(self._open_session(catalog, alias))

    def _open_session(self, catalog: str, alias: str, tag: CommitTag | None = None) -> TaskSession:
        session = TaskSession(self._engines, tag=tag)
        try:
            session.attach(self._uri, alias, catalog=catalog, metadata_schema=self._metadata_schema)
            session.use(joined_name([alias]))
        except BaseException:
            session.close()
            raise
        return session

    def fork(self, parent: str, name: str, tag: CommitTag, ttl: timedelta) -> None:
        """Fork a catalog with a time to live. The run holds the fork exclusively."""
        from forklake.merging.holds import create_held_fork

        create_held_fork(self.catalogs, parent, name, holder=tag.run_id, ttl=ttl)

    def merge_fork(self, fork: str, parent: str, tag: CommitTag) -> MergeReport:
        """Merge a fork into its parent as one snapshot, or raise Conflict."""
        from forklake.merging import merge_fork

        with self._open_session(parent, parent, tag) as session:
            info = tag.apply_to()
            request = MergeRequest(
                fork,
                parent,
                message=info.message,
                extra_info=info.extra_info,
                idempotency_key=tag.key,
            )
            merged = merge_fork(
                session, self.catalogs, request, holder=tag.run_id, author=info.author
            )
        return make_merge_report(merged)

    def publish_delta_table(self, catalog: str, output: Output) -> None:
        """Flush an output table, and publish it as a Delta table if it is not yet one."""
        from forklake.delta.publication import publish_table
        from forklake.maintenance import flush_inlined_data

        assert output.delta is not None
        with self._open_session(catalog, catalog) as session:
            place = session.resolve(output.table)
            flush_inlined_data(session, catalog, place.schema, place.table)
            state = place.attachment.catalog.refresh()
            if find_face(state, state.table(place.table, place.schema)) is None:
                publish_table(place.attachment.catalog, place.table, place.schema, output.delta)


def _start_engine(spark: SparkSession | None) -> Engine:
    from forklake.engines.spark.engine import Engine

    return Engine.start(spark, is_shared=True)
