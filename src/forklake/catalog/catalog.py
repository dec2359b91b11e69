"""A catalog: what users hold in their hands."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from forklake.catalog.changes import table_changes
from forklake.catalog.cleanup import cleanup_old_files, delete_orphaned_files
from forklake.catalog.expiry import Moment, expire_snapshots
from forklake.catalog.leases import expiry_of
from forklake.catalog.paths import DataPaths
from forklake.catalog.reading import Snapshotted, load_state
from forklake.catalog.series import Series
from forklake.catalog.transaction import Transaction
from forklake.errors import Conflict, InvalidInput, Unavailable
from forklake.model.entities import Table
from forklake.model.ids import CatalogId, SnapshotId, TableId
from forklake.model.options import OPTIONS
from forklake.model.plan import Committed, KnownBounds
from forklake.model.scans import TableChanges
from forklake.model.snapshots import CommitInfo, Head, Snapshot
from forklake.model.state import CatalogState
from forklake.store import scheduled
from forklake.store.catalogs import CatalogRow, has_ancestors, missing
from forklake.store.commit import series as commits_of
from forklake.store.database import Connection, Database
from forklake.store.expired import require_retained, retained_statement
from forklake.store.heads import find_head
from forklake.store.leases import find_lease, set_lease
from forklake.store.snapshots import (
    first_snapshot_since,
    list_snapshots,
    snapshot_at_time,
    snapshot_at_version,
)

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

T = TypeVar("T")
_FRESH_SECONDS = 60.0
_ATTEMPTS = 20


class Catalog:
    """One isolated catalog of a metastore. Safe to share between threads."""

    def __init__(self, metastore: Metastore, row: CatalogRow) -> None:
        self._metastore = metastore
        self._row = row
        self._guard = threading.Lock()
        self._known: CatalogState | None = None
        self._known_since = 0.0
        self._last_committed: SnapshotId | None = None
        self._known_bounds: dict[TableId, KnownBounds] = {}
        self._was_outrun = False
        self.paths = DataPaths(metastore.database, row)
        self.inherits = row.parent_catalog_id is not None

    def __repr__(self) -> str:
        return f"<Catalog {self.name!r} (id {self.catalog_id}) of {self.database.address}>"

    @property
    def name(self) -> str:
        """Its name when it was opened."""
        return self._row.catalog_name

    @property
    def catalog_id(self) -> CatalogId:
        """Its number, which a rename does not change."""
        return self._row.catalog_id

    @property
    def row(self) -> CatalogRow:
        """All that the metastore keeps about the catalog itself."""
        return self._row

    @property
    def database(self) -> Database:
        """The metadata database that it lives in."""
        return self._metastore.database

    # Time to live

    def expires_at(self) -> datetime | None:
        """From when on it may be dropped, if its time to live is limited."""
        with self.database.reading() as connection:
            return find_lease(connection, self.catalog_id)

    def extend(self, ttl: timedelta | None) -> datetime | None:
        """Let it live for so long from now on, or without limit; until when that is."""
        expires_at = expiry_of(ttl)
        if not set_lease(self.database, self.catalog_id, expires_at):
            raise missing(self.name)
        return expires_at

    # Snapshots

    def head(self) -> Head:
        """The newest snapshot and the version of the definitions."""
        with self.database.reading() as connection:
            head = find_head(connection, self.catalog_id)
        if head is None:
            raise missing(self.name)
        return head

    def current_snapshot(self) -> SnapshotId:
        """The newest snapshot, whoever committed it."""
        return self.head().snapshot_id

    def last_committed_snapshot(self) -> SnapshotId | None:
        """The newest snapshot that was committed through this object."""
        return self._last_committed

    def snapshots(self, *, before: int | None = None, limit: int | None = None) -> list[Snapshot]:
        """The history, oldest first: also what happened before it was forked off.

        A limit leaves the newest ones, of those `before` a snapshot if one is given.
        """
        if limit is not None and not 1 <= limit <= 10**9:
            raise InvalidInput(f"{limit} snapshots cannot be listed.", remedy="Use 1 or more.")
        with self.database.reading() as connection:
            return list_snapshots(connection, self.catalog_id, before=before, limit=limit)

    def at(self, *, version: int | None = None, timestamp: datetime | None = None) -> Snapshotted:
        """The catalog as it was at a snapshot or a moment."""
        if (version is None) == (timestamp is None):
            raise InvalidInput(
                "A version or a timestamp is needed to look back, and not both.",
                remedy="Give one of them.",
            )
        with self.database.reading() as connection:
            if version is not None:
                at = snapshot_at_version(connection, self.catalog_id, version)
            else:
                assert timestamp is not None
                if timestamp.tzinfo is None:
                    raise InvalidInput(
                        f"The timestamp {timestamp} has no time zone.", remedy="Add one."
                    )
                at = snapshot_at_time(connection, self.catalog_id, timestamp)
            state = load_state(connection, self.catalog_id, at, inherits=self.inherits)
            require_retained(self._is_retained(connection, state), state.snapshot_id)
        return self.seen(state)

    def first_snapshot_since(self, moment: datetime) -> SnapshotId | None:
        """The oldest snapshot that is not before a moment, if there is one."""
        with self.database.reading() as connection:
            return first_snapshot_since(connection, self.catalog_id, moment)

    def now(self) -> Snapshotted:
        """The catalog as it is; the result does not follow later commits."""
        return self.seen(self.refresh())

    def seen(self, state: CatalogState) -> Snapshotted:
        """The catalog with the definitions of one snapshot, and the files that it had then."""
        return Snapshotted(self.database, state, inherits=self.inherits, paths=self.paths)

    def table_changes(self, seen: Snapshotted, table: Table, start: int) -> TableChanges:
        """What happened to the rows of a table from snapshot `start` to the one that is seen, both
        included."""
        return table_changes(self.database, self.paths, seen, table, SnapshotId(start))

    # Where its files are

    def data_path(self) -> str:
        """The folder, or bucket and prefix, below which new files of this catalog go."""
        return self.paths.own

    def table_folder(self, state: CatalogState, table: Table) -> str:
        """The folder of new files of a table relative to the data path, with a slash at its end:
        below the folder of this catalog, also where the table was inherited."""
        parts = (self._row.path, state.schema_of(table).path, table.path)
        return "".join(part.rstrip("/") + "/" for part in parts)

    # The definitions that are known

    def refresh(self) -> CatalogState:
        """The newest definitions; only loaded again when they changed."""
        for _ in range(_ATTEMPTS):
            if (found := self._newest()) is not None:
                return found
        raise Unavailable(
            f"The snapshots of catalog '{self.name}' expire faster than they can be read.",
            remedy="Let them live longer, then try again.",
        )

    def _newest(self) -> CatalogState | None:
        """One try; None if others committed and let the snapshot expire while it was read."""
        with self.database.reading() as connection:
            head = find_head(connection, self.catalog_id)
            if head is None:
                raise missing(self.name)
            known = self._known
            if known is None or known.schema_version != head.schema_version:
                self.inherits = has_ancestors(connection, self.catalog_id)
                known = load_state(connection, self.catalog_id, head, inherits=self.inherits)
                if not self._is_retained(connection, known):
                    return None
        return self._remember(known, head.snapshot_id)

    def _is_retained(self, connection: Connection, state: CatalogState) -> bool:
        """Whether a snapshot is still there after its definitions were read."""
        return bool(connection.run([retained_statement(self.catalog_id, state.snapshot_id)])[0])

    def _remember(self, state: CatalogState, snapshot_id: SnapshotId) -> CatalogState:
        newest = state.seen_at(snapshot_id)
        with self._guard:
            if self._known is None or self._known.snapshot_id <= snapshot_id:
                self._known = newest
                self._known_since = time.monotonic()
        return newest

    def _fresh(self) -> CatalogState | None:
        """The definitions that are known, unless they are so old that snapshots since then may
        have expired: a transaction that begins there would learn so only when it commits."""
        is_fresh = time.monotonic() - self._known_since < _FRESH_SECONDS
        return self._known if is_fresh else None

    def noted(self, committed: Committed, *, changed: bool) -> None:
        """Remember a commit of ours: the definitions still hold if their version is the same."""
        with self._guard:
            self._last_committed = committed.snapshot_id
            self._known_bounds |= committed.known_bounds
            known = self._known
        is_current = known is not None and known.schema_version == committed.schema_version
        if known is not None and is_current and not changed:
            self._remember(known, committed.snapshot_id)
        else:
            self.forget()

    def forget(self) -> None:
        """Begin the next transaction with a look at what is there now."""
        with self._guard:
            self._known = None

    def known_bounds(self, table_ids: Iterable[TableId]) -> dict[TableId, KnownBounds]:
        """What commits through this object have learnt about some tables."""
        known = self._known_bounds
        return {number: known[number] for number in table_ids if number in known}

    # Changing it

    def transaction(
        self,
        *,
        author: str | None = None,
        message: str | None = None,
        extra_info: str | None = None,
        idempotency_key: str | None = None,
        seen: Snapshotted | None = None,
    ) -> Transaction:
        """A new transaction; as a context manager it commits at the end, or rolls back.

        With `seen` it began when that was seen: what others committed since may conflict with it.
        """
        info = CommitInfo(author, message, extra_info, idempotency_key)
        if seen is not None:
            return Transaction(self, seen.state, info, has_begun=True)
        return Transaction(self, self._fresh() or self.refresh(), info)

    @contextmanager
    def series(self) -> Iterator[Series]:
        """Transactions that become visible together at the end, each as a snapshot of its own; or
        none of them, after an error. Nobody else commits to the catalog meanwhile."""
        known = self.refresh()
        with commits_of(self.database) as commits:
            found = Series(self, commits, known)
            yield found
        if found.latest is not None:
            self.noted(found.latest, changed=found.state.schema_version != known.schema_version)

    def run(
        self, work: Callable[[Transaction], T], *, attempts: int = 100, message: str | None = None
    ) -> T:
        """Run a function in a transaction, again from the start when others were faster.

        Whoever was outrun once waits for a turn from then on: were all to try again at once, the
        slowest would be outrun for ever.
        """

        def attempt() -> T:
            with self.transaction(message=message) as transaction:
                return work(transaction)

        if not self._was_outrun:
            try:
                return attempt()
            except Conflict:
                self._was_outrun = True
        with self.database.turn(self.catalog_id):
            return retry(
                retry=retry_if_exception_type(Conflict),
                stop=stop_after_attempt(attempts),
                wait=wait_random(0, 0.003),
                reraise=True,
            )(attempt)()

    # Options

    def metastore_options(self) -> dict[str, str]:
        """The options that hold for all catalogs."""
        return self._metastore.known_options()

    def options(
        self, *, schema: str | None = None, table: str | None = None
    ) -> list[tuple[str, str | None, str]]:
        """Each option with the value in force and where it was set."""
        state = self.refresh()
        schema_row = state.schema(schema) if schema else None
        table_row = state.table(table, schema or "main") if table else None
        wide = self._metastore.options()
        found = []
        for name in OPTIONS:
            value, scope = state.option(name, table_row, schema_row, wide)
            found.append((name, value, scope.value if scope else "default"))
        return found

    def set_option(
        self, name: str, value: object, *, schema: str | None = None, table: str | None = None
    ) -> None:
        """Set an option in a transaction of its own; None removes it."""
        self.set_options({name: value}, schema=schema, table=table)

    def set_options(
        self,
        values: Mapping[str, object],
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set options, all in one transaction; None removes one."""
        with self.transaction(message=f"set options: {', '.join(values)}") as transaction:
            for name, value in values.items():
                transaction.set_option(name, value, schema=schema, table=table)

    # What may go

    def expire_snapshots(
        self,
        *,
        versions: Sequence[int] | None = None,
        older_than: Moment | None = None,
        dry_run: bool = False,
    ) -> list[Snapshot]:
        """Forget snapshots; see `catalog.expiry`."""
        return expire_snapshots(self, versions=versions, older_than=older_than, dry_run=dry_run)

    def cleanup_old_files(
        self,
        *,
        older_than: Moment | None = None,
        cleanup_all: bool = False,
        dry_run: bool = False,
    ) -> list[str]:
        """Remove files that no snapshot needs any more; see `catalog.cleanup`."""
        return cleanup_old_files(
            self, older_than=older_than, cleanup_all=cleanup_all, dry_run=dry_run
        )

    def delete_orphaned_files(
        self,
        *,
        older_than: Moment | None = None,
        cleanup_all: bool = False,
        dry_run: bool = False,
    ) -> list[str]:
        """Remove files that no snapshot ever had; see `catalog.cleanup`."""
        return delete_orphaned_files(
            self, older_than=older_than, cleanup_all=cleanup_all, dry_run=dry_run
        )

    # Files that wait to be removed

    def schedule_deletion(self, files: Sequence[scheduled.ScheduledFile]) -> None:
        """Note files that nobody needs any more, to be removed later."""
        scheduled.schedule(self.database, self.catalog_id, files)

    def scheduled_files(self) -> list[scheduled.ScheduledFile]:
        """The files that wait to be removed."""
        with self.database.reading() as connection:
            return scheduled.list_scheduled(connection, self.catalog_id)
