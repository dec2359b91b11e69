"""Series of transactions of one catalog that become visible together, each as a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklake.catalog.snapshot_reads import SnapshotReads, load_state
from forklake.catalog.transaction import Transaction
from forklake.model.plan import CommitPlan, Committed
from forklake.model.snapshots import CommitInfo
from forklake.model.state import CatalogState
from forklake.store import commit

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog


class Series:
    """Commits of one catalog in one transaction of the metadata database.

    A transaction of the series sees the earlier ones, which other connections do not see yet.
    """

    def __init__(self, catalog: Catalog, commits: commit.Series, state: CatalogState) -> None:
        self._catalog = catalog
        self._commits = commits
        self.state = state  # definitions at the start of the next transaction
        self.latest: Committed | None = None

    def transaction(self, *, message: str | None = None, continues: bool = False) -> Transaction:
        """Begin the next transaction; if it `continues`, the one after it joins its snapshot."""
        return _InSeries(self, self._catalog, CommitInfo(message=message), continues=continues)

    def seen(self, state: CatalogState) -> SnapshotReads:
        """Return a reader of the catalog that includes all commits of the series so far."""
        catalog = self._catalog
        return SnapshotReads(self._commits, state, inherits=catalog.inherits, paths=catalog.paths)

    def write(self, plan: CommitPlan) -> Committed:
        """Commit a plan as the next one of the series."""
        self.latest = self._commits.write(plan)
        # The plan may have changed definitions, or another commit before we got the lock.
        is_known = self.latest.schema_version == self.state.schema_version
        self.state = self.state.seen_at(self.latest.snapshot_id) if is_known else self._loaded()
        return self.latest

    def _loaded(self) -> CatalogState:
        head = self._commits.head
        assert head is not None  # something was written
        catalog = self._catalog
        with self._commits.reading() as connection:
            return load_state(connection, catalog.catalog_id, head, inherits=catalog.inherits)


class _InSeries(Transaction):
    """A transaction that commits to a series."""

    def __init__(
        self, series: Series, catalog: Catalog, info: CommitInfo, *, continues: bool
    ) -> None:
        super().__init__(catalog, series.state, info, has_begun=True)
        self._series = series
        self._continues = continues

    def committed_view(self) -> SnapshotReads:
        self._ready()
        return self._series.seen(self._draft.base)

    def _apply(self, plan: CommitPlan) -> Committed:
        plan.continues = self._continues
        return self._series.write(plan)
