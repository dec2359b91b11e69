"""Pages of the catalogs that a caller may read, among possibly millions of others."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter

from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.roles import Right
from forklake.access.rules import effective_rights
from forklake.catalog.metastore import Metastore
from forklake.errors import InvalidInput
from forklake.store.access_grants import PrefixGrant, chains_of, granted_ids, prefix_grants
from forklake.store.catalogs import CatalogRow, Within, catalogs_of, list_children
from forklake.store.database import Connection

# For a caller with grants on more catalogs than this, all names are scanned instead.
_FEW = 2000
_PAGE = 500
_name_of = attrgetter("catalog_name")


@dataclass(frozen=True, eq=False)
class VisibleCatalogs:
    """Listing of catalogs and forks, limited to those that the caller may read."""

    _context: AccessContext
    _authorization: Authorization

    def catalogs(
        self, caller: Caller, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[CatalogRow]:
        """Return a page of the catalogs that a caller may read, sorted by name."""
        if caller.is_free:
            return self._context.metastore.catalogs(prefix=prefix, after=after, limit=limit)
        if not 1 <= limit <= 100_000:
            raise InvalidInput(
                f"A page of {limit} catalogs cannot be listed.",
                remedy="Use a limit of 1 to 100000.",
            )
        found: list[CatalogRow] = []
        with self._context.here.required().reading() as connection:
            prefixes = prefix_grants(connection, caller.principal_id, self._context.now())
            granted = self._granted(connection, caller, prefixes, prefix)
            candidates = self._candidates(connection, granted, prefix, after)
            while len(found) < limit and (page := list(islice(candidates, _PAGE))):
                found += self._readable(connection, caller, prefixes, page)
        return found[:limit]

    def parent(self, caller: Caller, row: CatalogRow) -> str | None:
        """Return the name of the parent of a catalog; None if it is gone or may not be read."""
        if row.parent_catalog_id is None:
            return None
        name = self._context.metastore.names([row.parent_catalog_id]).get(row.parent_catalog_id)
        if name is None or Right.READ not in self._authorization.rights(caller, [name])[name]:
            return None
        return name

    def forks(self, caller: Caller, parent: CatalogRow, *, after: str = "") -> Iterator[CatalogRow]:
        """Yield the forks of a catalog that a caller may read, sorted by name, fetched in pages."""
        while page := self._page_of_forks(caller, parent, after):
            readable, after = page
            yield from readable

    def _page_of_forks(
        self, caller: Caller, parent: CatalogRow, after: str
    ) -> tuple[list[CatalogRow], str] | None:
        """Return the readable forks of the next page, and the name of the last fork in the page.

        None if there are no more forks. A page may have forks, but none that may be read.
        """
        with self._context.metastore.database.reading() as connection:
            prefixes: list[PrefixGrant] = []
            granted = None
            if not caller.is_free:
                prefixes = prefix_grants(connection, caller.principal_id, self._context.now())
                granted = self._granted(connection, caller, prefixes)
            rows = list_children(
                connection, parent.catalog_id, after=after, limit=_PAGE, within=granted
            )
            if not rows:
                return None
            shown = rows if caller.is_free else self._readable(connection, caller, prefixes, rows)
        return shown, rows[-1].catalog_name

    def _granted(
        self,
        connection: Connection,
        caller: Caller,
        prefixes: Sequence[PrefixGrant],
        prefix: str = "",
    ) -> Within | None:
        """Return the catalogs and prefixes granted to the caller; None if they are too many.

        Args:
            prefix: limits the prefixes to those that can contain names with this prefix.
        """
        if caller.bound is not None:
            return Within([caller.bound.catalog_id], [])
        ids = granted_ids(connection, caller.principal_id, _FEW + 1, self._context.now())
        return None if len(ids) > _FEW else Within(ids, _ranges(prefixes, prefix))

    def _candidates(
        self, connection: Connection, granted: Within | None, prefix: str, after: str
    ) -> Iterator[CatalogRow]:
        """Yield catalogs on which the caller has a grant, sorted by name."""
        if granted is None:
            return _walk(self._context.metastore, prefix, after)
        chosen = (
            row
            for row in catalogs_of(connection, granted.ids)
            if row.catalog_name.startswith(prefix) and row.catalog_name > after
        )
        walks = [_walk(self._context.metastore, one, after) for one in granted.prefixes]
        merged = heapq.merge(sorted(chosen, key=_name_of), *walks, key=_name_of)
        return (next(same) for _, same in groupby(merged, key=_name_of))

    def _readable(
        self,
        connection: Connection,
        caller: Caller,
        prefixes: Sequence[PrefixGrant],
        rows: Sequence[CatalogRow],
    ) -> list[CatalogRow]:
        ids = [row.catalog_id for row in rows]
        chains = chains_of(connection, caller.principal_id, ids, self._context.now())
        return [
            row
            for row in rows
            if Right.READ
            in effective_rights(caller, row.catalog_id, chains.get(row.catalog_id, []), prefixes)
        ]


def _walk(metastore: Metastore, prefix: str, after: str) -> Iterator[CatalogRow]:
    """Yield all catalogs with a prefix, fetched in pages."""
    while page := metastore.catalogs(prefix=prefix, after=after, limit=_PAGE):
        yield from page
        after = page[-1].catalog_name


def _ranges(prefixes: Iterable[PrefixGrant], wanted: str) -> list[str]:
    """Return the granted prefixes within the wanted one, without those contained in another."""
    found: list[str] = []
    for prefix in sorted({grant.prefix for grant in prefixes}):
        if wanted.startswith(prefix):
            return [wanted]
        if prefix.startswith(wanted) and not any(map(prefix.startswith, found)):
            found.append(prefix)
    return found
