"""A client: the metastore behind a service, with the verbs of a metastore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from forklake.catalog.storage import CatalogStorage
from forklake.client.catalogs import RemoteCatalog
from forklake.client.documents import Document, catalog_row
from forklake.client.sessions import RemoteSession
from forklake.client.transport import Transport, path_of
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.model.closing import Closing
from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.catalogs import CatalogRow

_PAGE = 1000
_BATCH = 10_000


def connect(url: str, key: str | None = None, *, seconds: float = 60.0) -> Client:
    """A client of the service at an address.

    Args:
        key: an API key or a token; a service without access rules needs none.
        seconds: after which a request that got no answer is given up.
    """
    return Client(Transport(url, key, seconds=seconds))


class Client(Closing):
    """The catalogs of a service that a credential reaches. Safe to share between threads."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def __repr__(self) -> str:
        return f"<Client of {self.transport.url}>"

    def close(self) -> None:
        """Close all connections."""
        self.transport.close()

    def me(self) -> Document:
        """Who the service takes us for."""
        found: Document = self.transport.get(path_of("me"))
        return found

    def session(
        self, catalog: str, *, alias: str | None = None, snapshot: int | None = None
    ) -> RemoteSession:
        """A session on a catalog, or on what it was at a snapshot."""
        body = {"catalog": catalog, "alias": alias, "snapshot": snapshot}
        told = self.transport.change("POST", path_of("sessions"), body)
        return RemoteSession(self.transport, told["session"])

    # Finding

    def catalog(self, name: str) -> RemoteCatalog:
        """The catalog of a name, or NotFound."""
        return RemoteCatalog(
            self.transport, catalog_row(self.transport.get(path_of("catalogs", name)))
        )

    def find(self, name: str) -> CatalogRow | None:
        """What is kept about the catalog of a name."""
        try:
            return self.catalog(name).row
        except NotFound:
            return None

    def catalogs(self, *, prefix: str = "", after: str = "", limit: int = 100) -> list[CatalogRow]:
        """A page of catalogs in the order of their names."""
        found: list[CatalogRow] = []
        while len(found) < limit:
            wanted = min(_PAGE, limit - len(found))
            told = self.transport.get(path_of("catalogs"), prefix=prefix, after=after, limit=wanted)
            found += map(catalog_row, told["catalogs"])
            if (after := told["next"]) is None:
                break
        return found

    def all_catalogs(self, *, prefix: str = "") -> Iterator[CatalogRow]:
        """All catalogs, fetched page by page."""
        after = ""
        while page := self.catalogs(prefix=prefix, after=after, limit=_PAGE):
            yield from page
            after = page[-1].catalog_name

    def count(self) -> int | None:
        """How many catalogs there are: a service does not tell."""
        return None

    def names(self, catalog_ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
        """The names of catalogs by their ids: a service does not tell those of others."""
        return {}

    def parent(self, name: str) -> str | None:
        """The name of the catalog that one was forked from, if that may be seen."""
        found: str | None = self.transport.get(path_of("catalogs", name))["parent"]
        return found

    def children(self, name: str) -> list[CatalogRow]:
        """The catalogs that were forked from one."""
        found: list[CatalogRow] = []
        after: str | None = ""
        while after is not None:
            told = self.transport.get(path_of("catalogs", name, "forks"), after=after, limit=_PAGE)
            found += map(catalog_row, told["catalogs"])
            after = told["next"]
        return found

    # Making

    def create_catalog(
        self,
        name: str,
        *,
        data_path: str | None = None,
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> RemoteCatalog:
        """A new, empty catalog with the schema `main`."""
        (row,) = self.create_catalogs(
            [name], data_path=data_path, if_not_exists=if_not_exists, ttl=ttl
        )
        return RemoteCatalog(self.transport, row)

    def create_catalogs(
        self,
        names: Sequence[str],
        *,
        data_path: str | None = None,
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> list[CatalogRow]:
        """Many catalogs, ten thousand in a snapshot."""
        body = {"data_path": data_path, "if_not_exists": if_not_exists} | _lifetime(ttl)
        return self._made(path_of("batch", "create"), names, body)

    def fork(
        self,
        parent: str,
        name: str,
        *,
        at: int | None = None,
        mode: str = "inherit",
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> RemoteCatalog:
        """A fork of a catalog as it is, or as it was at a snapshot."""
        (row,) = self.fork_many(
            parent, [name], at=at, mode=mode, if_not_exists=if_not_exists, ttl=ttl
        )
        return RemoteCatalog(self.transport, row)

    def fork_many(
        self,
        parent: str,
        names: Sequence[str],
        *,
        at: int | None = None,
        data_path: str | None = None,
        mode: str = "inherit",
        if_not_exists: bool = False,
        ttl: timedelta | None = None,
    ) -> list[CatalogRow]:
        """Many forks of one catalog, ten thousand in a snapshot."""
        if data_path is not None:
            raise Unsupported(
                "A service says itself where the files of forks go.", remedy="Leave data_path out."
            )
        body = {"at": at, "mode": mode, "if_not_exists": if_not_exists} | _lifetime(ttl)
        return self._made(path_of("catalogs", parent, "forks"), names, body)

    def _made(self, path: str, names: Sequence[str], body: Document) -> list[CatalogRow]:
        found: list[CatalogRow] = []
        for first in range(0, len(names), _BATCH):
            batch = list(names[first : first + _BATCH])
            told = self.transport.change("POST", path, body | {"names": batch})
            found += map(catalog_row, told["catalogs"])
        return found

    # Changing

    def rename_catalog(self, name: str, new_name: str) -> RemoteCatalog:
        """The catalog under another name; its contents stay."""
        told = self.transport.change("PATCH", path_of("catalogs", name), {"name": new_name})
        return RemoteCatalog(self.transport, catalog_row(told))

    def merge(self, fork: str, *, into: str | None = None, **wanted: Any) -> Document:
        """Merge a fork into what it was forked from, or into another catalog of its line; what
        else is wanted is as with `merge` of a catalog."""
        target = into if into is not None else self.parent(fork)
        if target is None:
            raise InvalidInput(
                f"The catalog '{fork}' has no parent that can be merged into.",
                remedy="Name the catalog to merge into.",
            )
        return self.catalog(target).merge(fork, **wanted)

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """End a catalog. Its forks live on."""
        self.drop_catalogs([name], if_exists=if_exists)

    def drop_catalogs(self, names: Sequence[str], *, if_exists: bool = False) -> int:
        """End many catalogs, ten thousand in a snapshot; returns how many there were."""
        count = 0
        for first in range(0, len(names), _BATCH):
            body = {"names": list(names[first : first + _BATCH]), "if_exists": if_exists}
            count += self.transport.change("POST", path_of("batch", "drop"), body)["dropped"]
        return count

    def materialize(self, name: str) -> SnapshotId | None:
        """Give a fork rows of its own and cut its line; None if it had none."""
        told = self.transport.change("POST", path_of("catalogs", name, "materialize"))
        return None if told["snapshot"] is None else SnapshotId(told["snapshot"])

    def storage(self, names: Sequence[str]) -> list[CatalogStorage]:
        """What the files of some catalogs take."""
        return [
            CatalogStorage(name, **self.transport.get(path_of("catalogs", name, "storage")))
            for name in names
        ]


def _seconds(ttl: timedelta | None) -> int | None:
    return None if ttl is None else int(ttl.total_seconds())


def _lifetime(ttl: timedelta | None) -> Document:
    return {} if ttl is None else {"ttl_seconds": _seconds(ttl)}
