"""Client of a service, with the methods of a metastore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Unpack

from forklake.catalog.storage import CatalogStorage
from forklake.client.catalogs import RemoteCatalog
from forklake.client.documents import Document, to_catalog_row
from forklake.client.sessions import RemoteSession
from forklake.client.transport import Transport, path_of
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.closeable import Closing
from forklake.model.diffs import LISTED, Diff
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.merge_outcomes import Merged
from forklake.model.requests import (
    CreateOptions,
    CreateRequest,
    ForkOptions,
    ForkRequest,
    MergeOptions,
    MergeRequest,
)
from forklake.store.catalogs import CatalogRow
from forklake.store.provisioning import Provided

_PAGE = 1000
_BATCH = 10_000


def connect(url: str, key: str | None = None, *, seconds: float = 60.0) -> Client:
    """Return a client of the service at a URL.

    Args:
        key: an API key or a token; not needed for a service without access rules.
        seconds: timeout of each request.
    """
    return Client(Transport(url, key, seconds=seconds))


class Client(Closing):
    """Catalogs of a service that a credential can access. Thread-safe."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def __repr__(self) -> str:
        return f"<Client of {self.transport.url}>"

    def close(self) -> None:
        """Close all connections."""
        self.transport.close()

    def me(self) -> Document:
        """Return the caller's principal, account and, for a token, its limits."""
        found: Document = self.transport.get(path_of("me"))
        return found

    def session(
        self, catalog: str, *, alias: str | None = None, snapshot: int | None = None
    ) -> RemoteSession:
        """Open a session on a catalog, or on its state at a snapshot."""
        body = {"catalog": catalog, "alias": alias, "snapshot": snapshot}
        response = self.transport.change("POST", path_of("sessions"), body)
        return RemoteSession(self.transport, response["session"])

    # Reading

    def catalog(self, name: str) -> RemoteCatalog:
        """Return a catalog by name, or raise NotFound."""
        return RemoteCatalog(
            self.transport, to_catalog_row(self.transport.get(path_of("catalogs", name)))
        )

    def find(self, name: str) -> CatalogRow | None:
        """Return the row of a catalog by name, or None if it does not exist."""
        try:
            return self.catalog(name).row
        except NotFound:
            return None

    def catalogs(self, *, prefix: str = "", after: str = "", limit: int = 100) -> list[CatalogRow]:
        """Return a page of catalogs by name; `after` is the last name of the previous page."""
        return self._fetch_pages(path_of("catalogs"), limit, prefix=prefix, after=after)

    def _fetch_pages(self, path: str, limit: int | None, **query: str) -> list[CatalogRow]:
        """Return up to `limit` catalogs, fetched in pages."""
        found: list[CatalogRow] = []
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            response = self.transport.get(path, **query, limit=size)
            found += map(to_catalog_row, response["catalogs"])
            if response["next"] is None:
                break
            query["after"] = response["next"]
        return found

    def all_catalogs(self, *, prefix: str = "") -> Iterator[CatalogRow]:
        """Yield all catalogs ordered by name, fetched page by page."""
        after = ""
        while page := self.catalogs(prefix=prefix, after=after, limit=_PAGE):
            yield from page
            after = page[-1].catalog_name

    def count(self) -> int | None:
        """Return None: a service does not disclose the number of its catalogs."""
        return None

    def names(self, catalog_ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
        """Return an empty dictionary: a service does not look up names by id."""
        return {}

    def parent(self, name: str) -> str | None:
        """Return the name of a fork's parent, or None if there is none that the caller can read."""
        found: str | None = self.transport.get(path_of("catalogs", name))["parent"]
        return found

    def children(self, name: str, *, after: str = "", limit: int | None = None) -> list[CatalogRow]:
        """Return the direct forks of a catalog, or a page of them, sorted by name."""
        return self._fetch_pages(path_of("catalogs", name, "forks"), limit, after=after)

    # Creating

    def create_catalog(self, name: str, **options: Unpack[CreateOptions]) -> RemoteCatalog:
        """Create an empty catalog with the schema `main`; for the options see `CreateRequest`."""
        (row,) = self.create(CreateRequest([name], **options)).rows
        return RemoteCatalog(self.transport, row)

    def create_catalogs(
        self, names: Sequence[str], **options: Unpack[CreateOptions]
    ) -> list[CatalogRow]:
        """Create many catalogs, up to 10,000 in one snapshot."""
        return self.create(CreateRequest(names, **options)).rows

    def create(self, request: CreateRequest) -> Provided:
        """Create the requested catalogs, up to 10,000 in one snapshot."""
        return self._provide(path_of("batch", "create"), request, data_path=request.data_path)

    def fork(self, parent: str, name: str, **options: Unpack[ForkOptions]) -> RemoteCatalog:
        """Fork a catalog at its current state or at a snapshot; for the options see `ForkRequest`.

        The service stores the files of forks: `data_path` is not supported.
        """
        (row,) = self.create_forks(ForkRequest(parent, [name], **options)).rows
        return RemoteCatalog(self.transport, row)

    def fork_many(
        self, parent: str, names: Sequence[str], **options: Unpack[ForkOptions]
    ) -> list[CatalogRow]:
        """Create many forks of one catalog, up to 10,000 in one snapshot."""
        return self.create_forks(ForkRequest(parent, names, **options)).rows

    def create_forks(self, request: ForkRequest) -> Provided:
        """Create the requested forks, up to 10,000 in one snapshot."""
        if request.data_path is not None:
            raise Unsupported(
                "The data path of a fork cannot be set through a service.",
                remedy="Omit data_path. The service stores the files of forks.",
            )
        path = path_of("catalogs", request.parent, "forks")
        return self._provide(path, request, at=request.at, mode=request.mode)

    def _provide(
        self, path: str, request: CreateRequest | ForkRequest, **wanted: object
    ) -> Provided:
        body = wanted | {"if_not_exists": request.if_not_exists} | _lifetime_body(request.ttl)
        found, created = list[CatalogRow](), 0
        for first in range(0, len(request.names), _BATCH):
            batch = list(request.names[first : first + _BATCH])
            response = self.transport.change("POST", path, body | {"names": batch})
            found += map(to_catalog_row, response["catalogs"])
            created += response["made"]
        return Provided(found, created)

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
        path = path_of("catalogs", first, "diff", second)
        return Diff.of(self.transport.get(path, table=tables, rows=rows, limit=limit))

    def merge(self, fork: str, **options: Unpack[MergeOptions]) -> Merged:
        """Merge a fork into its parent as one snapshot; for the options see `MergeRequest`."""
        request = MergeRequest(fork, **options)
        target = request.into if request.into is not None else self.parent(fork)
        if target is None:
            raise InvalidInput(
                f"Catalog '{fork}' is not a fork, or its parent was dropped or cannot be read.",
                remedy="Name the target of the merge with the argument into.",
            )
        body = asdict(request)
        del body["into"]
        body["source"] = body.pop("fork")
        return Merged.of(self.transport.change("POST", path_of("catalogs", target, "merge"), body))

    # Renaming and dropping

    def rename_catalog(self, name: str, new_name: str) -> RemoteCatalog:
        """Rename a catalog. Its contents do not change."""
        response = self.transport.change("PATCH", path_of("catalogs", name), {"name": new_name})
        return RemoteCatalog(self.transport, to_catalog_row(response))

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a catalog. Its forks are not affected."""
        self.drop_catalogs([name], if_exists=if_exists)

    def drop_catalogs(self, names: Sequence[str], *, if_exists: bool = False) -> int:
        """Drop many catalogs, up to 10,000 in one snapshot. Return how many were dropped."""
        count = 0
        for first in range(0, len(names), _BATCH):
            body = {"names": list(names[first : first + _BATCH]), "if_exists": if_exists}
            count += self.transport.change("POST", path_of("batch", "drop"), body)["dropped"]
        return count

    def materialize(self, name: str) -> SnapshotId | None:
        """Copy the rows that a fork inherits into it and detach it from its ancestors.

        Return the snapshot, or None if it does not inherit anything.
        """
        response = self.transport.change("POST", path_of("catalogs", name, "materialize"))
        return None if response["snapshot"] is None else SnapshotId(response["snapshot"])

    def storage(self, names: Sequence[str]) -> list[CatalogStorage]:
        """Return the storage use of catalogs."""
        return [
            CatalogStorage(name, **self.transport.get(path_of("catalogs", name, "storage")))
            for name in names
        ]


def _lifetime_seconds(ttl: timedelta | None) -> int | None:
    return None if ttl is None else int(ttl.total_seconds())


def _lifetime_body(ttl: timedelta | None) -> Document:
    return {} if ttl is None else {"ttl_seconds": _lifetime_seconds(ttl)}
