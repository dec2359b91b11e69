"""Public handle of one catalog."""

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
from forklake.catalog.series import Series
from forklake.catalog.snapshot_reads import SnapshotReads, load_state
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
        """Its name at the time when it was opened."""
        return self._row.catalog_name

    @property
    def catalog_id(self) -> CatalogId:
        """Its id, which does not change when it is renamed."""
        return self._row.catalog_id

    @property
    def row(self) -> CatalogRow:
        """Its row in the metastore."""
        return self._row

    @property
    def database(self) -> Database:
        """Metadata database that contains it."""
        return self._metastore.database

    # Time to live

    def expires_at(self) -> datetime | None:
        """Return the time after which the catalog may be dropped; None if it does not expire."""
        with self.database.reading() as connection:
            return find_lease(connection, self.catalog_id)

    def extend(self, ttl: timedelta | None) -> datetime | None:
        """Set the time to live, counted from now; None for no limit. Returns the expiry."""
        expires_at = expiry_of(ttl)
        if not set_lease(self.database, self.catalog_id, expires_at):
            raise missing(self.name)
        return expires_at

    # Snapshots

    def head(self) -> Head:
        """Return the newest snapshot and the version of the definitions."""
        with self.database.reading() as connection:
            head = find_head(connection, self.catalog_id)
        if head is None:
            raise missing(self.name)
        return head

    def current_snapshot(self) -> SnapshotId:
        """Return the newest snapshot, committed by any client."""
        return self.head().snapshot_id

    def last_committed_snapshot(self) -> SnapshotId | None:
        """Return the newest snapshot that was committed through this object; None if none was."""
        return self._last_committed

    def snapshots(self, *, before: int | None = None, limit: int | None = None) -> list[Snapshot]:
        """Return the history, oldest first, including the history of the parent before the fork.

        Args:
            before: return only snapshots before this one.
            limit: return at most so many, the newest ones.
        """
        if limit is not None and not 1 <= limit <= 10**9:
            raise InvalidInput(
                f"{limit} snapshots cannot be listed.", remedy="Use a limit of 1 or more."
            )
        with self.database.reading() as connection:
            return list_snapshots(connection, self.catalog_id, before=before, limit=limit)

    def at(self, *, version: int | None = None, timestamp: datetime | None = None) -> SnapshotReads:
        """Return the catalog as of a snapshot or a point in time."""
        if (version is None) == (timestamp is None):
            raise InvalidInput(
                "Reading an earlier state needs either a version or a timestamp.",
                remedy="Give exactly one of them.",
            )
        with self.database.reading() as connection:
            if version is not None:
                at = snapshot_at_version(connection, self.catalog_id, version)
            else:
                assert timestamp is not None
                if timestamp.tzinfo is None:
                    raise InvalidInput(
                        f"The timestamp {timestamp} has no time zone.", remedy="Add a time zone."
                    )
                at = snapshot_at_time(connection, self.catalog_id, timestamp)
            state = load_state(connection, self.catalog_id, at, inherits=self.inherits)
            require_retained(self._is_retained(connection, state), state.snapshot_id)
        return self.seen(state)

    def first_snapshot_since(self, moment: datetime) -> SnapshotId | None:
        """Return the oldest snapshot that is not before a time; None if there is none."""
        with self.database.reading() as connection:
            return first_snapshot_since(connection, self.catalog_id, moment)

    def now(self) -> SnapshotReads:
        """Return the current state of the catalog. It does not follow later commits."""
        return self.seen(self.refresh())

    def seen(self, state: CatalogState) -> SnapshotReads:
        """Return a reader of the catalog for the definitions and files of one snapshot."""
        return SnapshotReads(self.database, state, inherits=self.inherits, paths=self.paths)

    def table_changes(self, seen: SnapshotReads, table: Table, start: int) -> TableChanges:
        """Return the row changes of a table from snapshot `start` to that of `seen`, inclusive."""
        return table_changes(self.database, self.paths, seen, table, SnapshotId(start))

    # Location of files

    def data_path(self) -> str:
        """Return the folder, or bucket and prefix, of new files of this catalog."""
        return self.paths.own

    def table_folder(self, state: CatalogState, table: Table) -> str:
        """Return the folder of new files of a table, relative to the data path, with a final slash.

        It is below the folder of this catalog even if the table is inherited.
        """
        parts = (self._row.path, state.schema_of(table).path, table.path)
        return "".join(part.rstrip("/") + "/" for part in parts)

    # Cached definitions

    def refresh(self) -> CatalogState:
        """Return the newest definitions, which are loaded only if they have changed."""
        for _ in range(_ATTEMPTS):
            if (found := self._newest()) is not None:
                return found
        raise Unavailable(
            f"The snapshots of catalog '{self.name}' expire faster than they can be read.",
            remedy="Increase the option expire_older_than, then try again.",
        )

    def _newest(self) -> CatalogState | None:
        """Load the newest definitions; None if concurrent commits and expiry overtook the read."""
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
        """Return whether a snapshot still exists after its definitions were read."""
        return bool(connection.run([retained_statement(self.catalog_id, state.snapshot_id)])[0])

    def _remember(self, state: CatalogState, snapshot_id: SnapshotId) -> CatalogState:
        newest = state.seen_at(snapshot_id)
        with self._guard:
            if self._known is None or self._known.snapshot_id <= snapshot_id:
                self._known = newest
                self._known_since = time.monotonic()
        return newest

    def _fresh(self) -> CatalogState | None:
        """Return the cached definitions; None if they are too old to begin a transaction with.

        Snapshots since then may have expired, which the transaction would find out only when it
        commits.
        """
        is_fresh = time.monotonic() - self._known_since < _FRESH_SECONDS
        return self._known if is_fresh else None

    def noted(self, committed: Committed, *, changed: bool) -> None:
        """Update the caches after a commit through this object.

        The cached definitions stay valid if their version is the same.
        """
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
        """Drop the cached definitions, so that the next transaction loads the newest ones."""
        with self._guard:
            self._known = None

    def known_bounds(self, table_ids: Iterable[TableId]) -> dict[TableId, KnownBounds]:
        """Return the column bounds of tables that commits through this object have cached."""
        known = self._known_bounds
        return {number: known[number] for number in table_ids if number in known}

    # Changes

    def transaction(
        self,
        *,
        author: str | None = None,
        message: str | None = None,
        extra_info: str | None = None,
        idempotency_key: str | None = None,
        seen: SnapshotReads | None = None,
    ) -> Transaction:
        """Begin a transaction; as a context manager it commits at the end, or rolls back.

        Args:
            seen: begin at this state; commits since then may conflict with the transaction.
        """
        info = CommitInfo(author, message, extra_info, idempotency_key)
        if seen is not None:
            return Transaction(self, seen.state, info, has_begun=True)
        return Transaction(self, self._fresh() or self.refresh(), info)

    @contextmanager
    def series(self) -> Iterator[Series]:
        """Run transactions that become visible together at the end, each as its own snapshot.

        After an error none of them is committed. Other commits to the catalog wait meanwhile.
        """
        known = self.refresh()
        with commits_of(self.database) as commits:
            found = Series(self, commits, known)
            yield found
        if found.latest is not None:
            self.noted(found.latest, changed=found.state.schema_version != known.schema_version)

    def run(
        self, work: Callable[[Transaction], T], *, attempts: int = 100, message: str | None = None
    ) -> T:
        """Run a function in a transaction, and again from the start after a conflict.

        After its first conflict this catalog object queues for its turn to commit: if all clients
        retried at once, the slowest would always lose.
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
        """Return the options that apply to all catalogs of the metastore."""
        return self._metastore.known_options()

    def options(
        self, *, schema: str | None = None, table: str | None = None
    ) -> list[tuple[str, str | None, str]]:
        """Return each option with its value and the scope that sets it."""
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
        """Set an option in a separate transaction; None removes it."""
        self.set_options({name: value}, schema=schema, table=table)

    def set_options(
        self,
        values: Mapping[str, object],
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set options in one transaction; None removes one."""
        with self.transaction(message=f"set options: {', '.join(values)}") as transaction:
            for name, value in values.items():
                transaction.set_option(name, value, schema=schema, table=table)

    # Expiry and clean-up

    def expire_snapshots(
        self,
        *,
        versions: Sequence[int] | None = None,
        older_than: Moment | None = None,
        dry_run: bool = False,
    ) -> list[Snapshot]:
        """Expire snapshots and return them; see `catalog.expiry`."""
        return expire_snapshots(self, versions=versions, older_than=older_than, dry_run=dry_run)

    def cleanup_old_files(
        self,
        *,
        older_than: Moment | None = None,
        cleanup_all: bool = False,
        dry_run: bool = False,
    ) -> list[str]:
        """Delete files that no snapshot needs any more; see `catalog.cleanup`."""
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
        """Delete files that no snapshot ever contained; see `catalog.cleanup`."""
        return delete_orphaned_files(
            self, older_than=older_than, cleanup_all=cleanup_all, dry_run=dry_run
        )

    # Files scheduled for deletion

    def schedule_deletion(self, files: Sequence[scheduled.ScheduledFile]) -> None:
        """Schedule files that are not needed any more for deletion."""
        scheduled.schedule(self.database, self.catalog_id, files)

    def scheduled_files(self) -> list[scheduled.ScheduledFile]:
        """Return the files that are scheduled for deletion."""
        with self.database.reading() as connection:
            return scheduled.list_scheduled(connection, self.catalog_id)
