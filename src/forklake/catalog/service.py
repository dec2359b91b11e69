"""Interface of everything that holds catalogs: a metastore, and the client of a service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, Self, Unpack

from forklake.catalog.storage import CatalogStorage
from forklake.model.diffs import LISTED, Diff
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.merge_outcomes import Merged
from forklake.model.requests import (
    CreateOptions,
    CreateRequest,
    ForkOptions,
    ForkRequest,
    MergeOptions,
)
from forklake.model.snapshots import Snapshot
from forklake.store.catalogs import CatalogRow
from forklake.store.provisioning import Provided


class CatalogHandle(Protocol):
    """One catalog of a metastore or a service."""

    @property
    def name(self) -> str:
        """Name of the catalog when it was opened."""

    @property
    def catalog_id(self) -> CatalogId:
        """Id of the catalog, which a rename does not change."""

    @property
    def row(self) -> CatalogRow:
        """Row of the catalog when it was opened."""

    def current_snapshot(self) -> SnapshotId:
        """Return the newest snapshot."""

    def snapshots(self, *, limit: int | None = None) -> list[Snapshot]:
        """Return the newest snapshots, oldest first, including those inherited by a fork."""

    def options(
        self, *, schema: str | None = None, table: str | None = None
    ) -> list[tuple[str, str | None, str]]:
        """Return each option with its effective value and the scope where it is set."""

    def set_option(
        self, name: str, value: object, *, schema: str | None = None, table: str | None = None
    ) -> None:
        """Set an option; None removes the setting."""

    def set_options(
        self,
        values: Mapping[str, object],
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set several options; None removes a setting."""

    def extend(self, ttl: timedelta | None) -> datetime | None:
        """Set the time to live, counted from now; None removes the expiry. Return the expiry."""


class CatalogService(Protocol):
    """Catalogs by name: list, create, fork, compare, merge and drop them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Close all connections."""

    # Finding

    def catalog(self, name: str) -> CatalogHandle:
        """Return the catalog with a name; raise NotFound if there is none."""

    def find(self, name: str) -> CatalogRow | None:
        """Return the row of the catalog with a name; None if there is none."""

    def names(self, catalog_ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
        """Return the names of catalogs by their ids, as far as they are known."""

    def catalogs(self, *, prefix: str = "", after: str = "", limit: int = 100) -> list[CatalogRow]:
        """Return a page of catalogs by name; `after` is the last name of the previous page."""

    def all_catalogs(self, *, prefix: str = "") -> Iterator[CatalogRow]:
        """Yield all catalogs by name, fetched in pages."""

    def count(self) -> int | None:
        """Return the number of catalogs; None if it is not disclosed."""

    def children(self, name: str, *, after: str = "", limit: int | None = None) -> list[CatalogRow]:
        """Return the direct forks of a catalog, or a page of them, sorted by name."""

    def storage(self, names: Sequence[str]) -> list[CatalogStorage]:
        """Return the storage that the files of catalogs use."""

    # Creating

    def create_catalog(self, name: str, **options: Unpack[CreateOptions]) -> CatalogHandle:
        """Create an empty catalog with the schema `main`; for the options see `CreateRequest`."""

    def create_catalogs(
        self, names: Sequence[str], **options: Unpack[CreateOptions]
    ) -> list[CatalogRow]:
        """Create empty catalogs, up to 10,000 in one snapshot."""

    def create(self, request: CreateRequest) -> Provided:
        """Create the requested catalogs, up to 10,000 in one snapshot."""

    def fork(self, parent: str, name: str, **options: Unpack[ForkOptions]) -> CatalogHandle:
        """Fork a catalog as it is, or as of a snapshot; for the options see `ForkRequest`."""

    def fork_many(
        self, parent: str, names: Sequence[str], **options: Unpack[ForkOptions]
    ) -> list[CatalogRow]:
        """Create forks of one catalog, up to 10,000 in one snapshot."""

    def create_forks(self, request: ForkRequest) -> Provided:
        """Create the requested forks, up to 10,000 in one snapshot."""

    def materialize(self, name: str) -> SnapshotId | None:
        """Copy the rows that a fork inherits, and cut its lineage; None if it inherits nothing."""

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
        """Return the changes from the first catalog to the second, with rows if wanted."""

    def merge(self, fork: str, **options: Unpack[MergeOptions]) -> Merged:
        """Merge a fork into its parent, or into `into`; for the options see `MergeRequest`."""

    # Renaming and dropping

    def rename_catalog(self, name: str, new_name: str) -> CatalogHandle:
        """Rename a catalog. Its contents and its folder do not change."""

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a catalog. Its forks are not affected."""

    def drop_catalogs(self, names: Sequence[str], *, if_exists: bool = False) -> int:
        """Drop catalogs, up to 10,000 in one snapshot; return how many existed."""
