"""Metastore: one metadata database with any number of catalogs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from tenacity import (
    retry,
    retry_if_exception,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from forklake.catalog.catalog import Catalog
from forklake.catalog.comparison import comparison
from forklake.catalog.expiry import Moment
from forklake.catalog.leases import drop_expired, expiry_of
from forklake.catalog.reclamation import Reclaimed, reclaim
from forklake.catalog.scratch import Scratch, scratch
from forklake.catalog.storage import CatalogStorage, storage
from forklake.errors import AlreadyExists, InvalidInput, NotFound, Unavailable
from forklake.files.locations import normalize_data_path
from forklake.model.closeable import Closing
from forklake.model.diffs import LISTED, Diff
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.merge_outcomes import Merged
from forklake.model.names import checked_catalog_name
from forklake.model.options import Scope, checked_option
from forklake.model.requests import (
    CreateOptions,
    CreateRequest,
    ForkOptions,
    ForkRequest,
    MergeOptions,
    MergeRequest,
)
from forklake.store import catalogs as store
from forklake.store import provisioning
from forklake.store.bootstrap import open_database
from forklake.store.database import Database
from forklake.store.forks import fork_catalogs
from forklake.store.materialize import materialize
from forklake.store.options import read_options, write_option
from forklake.store.provisioning import Besides, Provided, nothing_besides
from forklake.store.snapshots import latest_snapshot_of_all

if TYPE_CHECKING:
    from forklake.engines.local.compute.node import Node

R = TypeVar("R", CreateRequest, ForkRequest)
# Catalogs per transaction: enough to be fast, few enough for short locks and little memory.
BATCH = 10_000

_on_lost_connection = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(5),
    wait=wait_random_exponential(multiplier=0.05, max=2.0),
    reraise=True,
)


class Metastore(Closing):
    """The catalogs of one metadata database. Needs no JVM; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._options: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"<Metastore {self.database.address}>"

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    # Finding

    def catalog(self, name: str) -> Catalog:
        """Return the catalog with a name; raise NotFound if there is none."""
        row = self.find(name)
        if row is None:
            raise store.missing(name)
        return Catalog(self, row)

    def find(self, name: str) -> store.CatalogRow | None:
        """Return the row of the catalog with a name; None if there is none."""
        with suppress(NotFound), self.database.reading() as connection:
            return store.find_catalog(connection, _possible_name(name))
        return None

    def names(self, catalog_ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
        """Return the names of live catalogs by their ids."""
        with self.database.reading() as connection:
            return store.find_names(connection, catalog_ids)

    def catalogs(
        self, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[store.CatalogRow]:
        """Return a page of catalogs by name; `after` is the last name of the previous page."""
        if not 1 <= limit <= 100_000:
            raise InvalidInput(
                f"A page of {limit} catalogs cannot be listed.",
                remedy="Use a limit of 1 to 100000.",
            )
        with self.database.reading() as connection:
            return store.list_catalogs(connection, prefix=prefix, after=after, limit=limit)

    def all_catalogs(self, *, prefix: str = "") -> Iterator[store.CatalogRow]:
        """Yield all catalogs, fetched in pages."""
        after = ""
        while page := self.catalogs(prefix=prefix, after=after, limit=10_000):
            yield from page
            after = page[-1].catalog_name

    def count(self) -> int:
        """Return the number of catalogs."""
        with self.database.reading() as connection:
            return store.count_catalogs(connection)

    def children(
        self, name: str, *, after: str = "", limit: int | None = None
    ) -> list[store.CatalogRow]:
        """Return the direct forks of a catalog, or a page of them, sorted by name."""
        parent = self.catalog(name)
        with self.database.reading() as connection:
            return store.list_children(connection, parent.catalog_id, after=after, limit=limit)

    def count_children(self, catalog_ids: Sequence[CatalogId]) -> dict[CatalogId, int]:
        """Return the number of direct forks of each catalog that has any."""
        with self.database.reading() as connection:
            return store.count_children(connection, catalog_ids)

    def latest_snapshot(self) -> SnapshotId:
        """Return the newest snapshot up to which no older commit is still in flight."""
        return latest_snapshot_of_all(self.database)

    # Creating

    def create_catalog(self, name: str, **options: Unpack[CreateOptions]) -> Catalog:
        """Create an empty catalog with the schema `main`; for the options see `CreateRequest`."""
        (row,) = self.create(CreateRequest([name], **options)).rows
        return Catalog(self, row)

    def create_catalogs(
        self, names: Sequence[str], **options: Unpack[CreateOptions]
    ) -> list[store.CatalogRow]:
        """Create empty catalogs, up to BATCH in one snapshot."""
        return self.create(CreateRequest(names, **options)).rows

    def create(self, request: CreateRequest, *, besides: Besides = nothing_besides) -> Provided:
        """Create the requested catalogs, up to BATCH in one snapshot.

        Args:
            besides: returns further operations for the transaction that creates the catalogs.
        """
        return self._provide(provisioning.create_catalogs, request, besides)

    # Forking

    def fork(self, parent: str, name: str, **options: Unpack[ForkOptions]) -> Catalog:
        """Fork a catalog as it is, or as of a snapshot. This takes about a millisecond.

        For the options see `ForkRequest`.
        """
        (row,) = self.create_forks(ForkRequest(parent, [name], **options)).rows
        return Catalog(self, row)

    def fork_many(
        self, parent: str, names: Sequence[str], **options: Unpack[ForkOptions]
    ) -> list[store.CatalogRow]:
        """Create forks of one catalog, up to BATCH in one snapshot."""
        return self.create_forks(ForkRequest(parent, names, **options)).rows

    def create_forks(self, request: ForkRequest, *, besides: Besides = nothing_besides) -> Provided:
        """Create the requested forks, up to BATCH in one snapshot; for `besides` see `create`."""
        parent = _possible_name(request.parent)
        return self._provide(fork_catalogs, request, besides, parent=parent)

    def _provide(
        self, function: Callable[..., Provided], request: R, besides: Besides, **normal: Any
    ) -> Provided:
        """Create the catalogs of a request in batches; `normal` are fields in stored form."""
        if request.data_path is not None:
            normal["data_path"] = normalize_data_path(request.data_path)
        expires_at = expiry_of(request.ttl)
        found, created = list[store.CatalogRow](), 0
        for first in range(0, len(request.names), BATCH):
            batch: R = replace(request, names=request.names[first : first + BATCH], **normal)
            create = partial(function, self.database, batch, expires_at=expires_at, besides=besides)
            rows, count = _once(create, request.if_not_exists)
            found += rows
            created += count
        return Provided(found, created)

    def scratch(
        self, parent: str, *, ttl: timedelta = timedelta(hours=1), at: int | None = None
    ) -> AbstractContextManager[Scratch]:
        """Create a fork that is dropped at the end of the block unless it is kept."""
        return scratch(self, parent, ttl=ttl, at=at)

    def materialize(self, name: str) -> SnapshotId | None:
        """Copy the rows that a fork inherits, and cut its lineage; None if it inherits nothing."""
        return _on_lost_connection(materialize)(self.database, _possible_name(name))

    # Comparing

    def diff(
        self,
        first: str,
        second: str,
        *,
        tables: Sequence[str] | None = None,
        rows: bool = False,
        limit: int = LISTED,
    ) -> Diff:
        """Return the changes from the first catalog to the second.

        Args:
            tables: compare only these tables.
            rows: also return rows, at most `limit` for each table.
        """
        return comparison().diff(self, first, second, tables=tables, rows=rows, limit=limit)

    def merge(
        self, fork: str, *, author: str | None = None, **options: Unpack[MergeOptions]
    ) -> Merged:
        """Merge a fork into its parent as one snapshot; for the options see `MergeRequest`."""
        return comparison().merge(self, MergeRequest(fork, **options), author=author)

    # Renaming and dropping

    def rename_catalog(
        self, name: str, new_name: str, *, besides: Besides = nothing_besides
    ) -> Catalog:
        """Rename a catalog. Its folder keeps its name."""
        checked = checked_catalog_name(new_name)
        row = provisioning.rename_catalog(
            self.database, _possible_name(name), checked, besides=besides
        )
        return Catalog(self, row)

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a catalog. Its forks are not affected."""
        self.drop_catalogs([name], if_exists=if_exists)

    def drop_catalogs(
        self,
        names: Sequence[str],
        *,
        if_exists: bool = False,
        besides: Besides = nothing_besides,
    ) -> int:
        """Drop catalogs, up to BATCH in one snapshot; return how many existed."""
        count = 0
        wanted: list[str] = []
        for name in names:
            with suppress(NotFound) if if_exists else nullcontext():
                wanted.append(_possible_name(name))
        for first in range(0, len(wanted), BATCH):
            batch = wanted[first : first + BATCH]
            dropped = provisioning.drop_catalogs(
                self.database, batch, if_exists=if_exists, besides=besides
            )
            count += len(dropped)
        return count

    def drop_expired(self, limit: int = 1000, *, now: datetime | None = None) -> list[str]:
        """Drop catalogs whose time to live has ended; return their names.

        Several processes may do this at the same time.
        """
        return drop_expired(self, limit, now)

    def reclaim_dropped(
        self, limit: int = 1000, *, older_than: Moment | None = None, cleanup_all: bool = False
    ) -> Reclaimed:
        """Delete rows and files that only dropped catalogs used; see `catalog.reclaiming`."""
        return reclaim(self, limit, older_than=older_than, cleanup_all=cleanup_all)

    def storage(self, names: Sequence[str]) -> list[CatalogStorage]:
        """Return the storage that the files of catalogs use; see `catalog.storage`."""
        return storage(self, [self.catalog(name).row for name in names])

    def duckdb(
        self, name: str, *, version: int | None = None, timestamp: datetime | None = None
    ) -> Node:
        """Open an in-process DuckDB over a catalog, now or in the past; see `engines.local`."""
        from forklake.engines.local.compute.node import Node

        return Node(self.catalog(name), version=version, timestamp=timestamp)

    # Options for all catalogs

    def options(self) -> dict[str, str]:
        """Return the options set for all catalogs."""
        with self.database.reading() as connection:
            self._options = read_options(connection)
        return self._options

    def known_options(self) -> dict[str, str]:
        """Return the same options, as cached by this process."""
        return self.options() if self._options is None else self._options

    def set_option(self, name: str, value: object) -> None:
        """Set an option for all catalogs; None removes it."""
        key, text = checked_option(name, value, Scope.GLOBAL)
        write_option(self.database, key, text)
        self._options = None


def _possible_name(name: str) -> str:
    """Return a name in its stored form; raise NotFound if no catalog can have it."""
    try:
        return checked_catalog_name(name)
    except InvalidInput:
        raise store.missing(name) from None


def _once(create: Callable[[], Provided], if_not_exists: bool) -> Provided:
    """Run a creation, and retry it after a lost connection or a concurrent creation.

    An attempt whose answer was lost may have succeeded: then the names are taken by its catalogs.
    With `if_not_exists` they are returned; otherwise the caller gets AlreadyExists.
    """

    def is_worth_a_retry(error: BaseException) -> bool:
        if if_not_exists and isinstance(error, AlreadyExists):
            return "fork" not in error.details  # the name is another fork: a retry cannot help
        return isinstance(error, Unavailable)

    return retry(
        retry=retry_if_exception(is_worth_a_retry),
        stop=stop_after_attempt(20),
        wait=wait_random_exponential(multiplier=0.02, max=1.0),
        reraise=True,
    )(create)()


def open_metastore(
    uri: str, *, create: bool = False, metadata_schema: str | None = None, partitions: int = 0
) -> Metastore:
    """Open the metastore of an attach string.

    Args:
        uri: for example `ducklake:<path>`, `ducklake:postgres:<dsn>` or `ducklake:mysql:<dsn>`.
        create: create the metastore if it does not exist.
        metadata_schema: database schema of its tables.
        partitions: number of partitions of large tables, if it is created (PostgreSQL).
    """
    database = open_database(
        uri, create=create, metadata_schema=metadata_schema, partitions=partitions
    )
    return Metastore(database)
