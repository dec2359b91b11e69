"""Listing: the catalogs that a caller can see, page by page, among millions of others."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter

from forklake.access.callers import Caller
from forklake.access.checking import Checking
from forklake.access.roles import Right
from forklake.access.rules import effective_rights
from forklake.catalog.metastore import Metastore
from forklake.errors import InvalidInput
from forklake.store.access_grants import PrefixGrant, chains_of, granted_ids, prefix_grants
from forklake.store.catalogs import CatalogRow, catalogs_of
from forklake.store.database import Connection

# Whoever has grants on more catalogs than this finds theirs by walking through all names.
_FEW = 2000
_PAGE = 500
_name_of = attrgetter("catalog_name")


class Listing(Checking):
    """Which catalogs there are for whom."""

    def visible(
        self, caller: Caller, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[CatalogRow]:
        """A page of the catalogs that a caller may read, in the order of their names."""
        if caller.is_free:
            return self.metastore.catalogs(prefix=prefix, after=after, limit=limit)
        if not 1 <= limit <= 100_000:
            raise InvalidInput(
                f"A page of {limit} catalogs cannot be listed.", remedy="Use 1 to 100000."
            )
        found: list[CatalogRow] = []
        with self._here.required().reading() as connection:
            prefixes = prefix_grants(connection, caller.principal_id, self._now())
            candidates = self._candidates(connection, caller, prefixes, prefix, after)
            while len(found) < limit and (page := list(islice(candidates, _PAGE))):
                found += self._readable(connection, caller, prefixes, page)
        return found[:limit]

    def _candidates(
        self,
        connection: Connection,
        caller: Caller,
        prefixes: Sequence[PrefixGrant],
        prefix: str,
        after: str,
    ) -> Iterator[CatalogRow]:
        """Catalogs that the caller has been granted something on, in the order of their names."""
        if caller.bound is not None:
            granted = [caller.bound.catalog_id]
        else:
            granted = granted_ids(connection, caller.principal_id, _FEW + 1, self._now())
        if len(granted) > _FEW:
            return _walk(self.metastore, prefix, after)
        chosen = (
            row
            for row in catalogs_of(connection, granted)
            if row.catalog_name.startswith(prefix) and row.catalog_name > after
        )
        ranges = () if caller.bound is not None else _ranges(prefixes, prefix)
        walks = [_walk(self.metastore, one, after) for one in ranges]
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
        chains = chains_of(connection, caller.principal_id, ids, self._now())
        return [
            row
            for row in rows
            if Right.READ
            in effective_rights(caller, row.catalog_id, chains.get(row.catalog_id, []), prefixes)
        ]


def _walk(metastore: Metastore, prefix: str, after: str) -> Iterator[CatalogRow]:
    """All catalogs of a prefix, fetched page by page as they are wanted."""
    while page := metastore.catalogs(prefix=prefix, after=after, limit=_PAGE):
        yield from page
        after = page[-1].catalog_name


def _ranges(prefixes: Iterable[PrefixGrant], wanted: str) -> list[str]:
    """The prefixes within the wanted one, none of which lies within another."""
    found: list[str] = []
    for prefix in sorted({grant.prefix for grant in prefixes}):
        if wanted.startswith(prefix):
            return [wanted]
        if prefix.startswith(wanted) and not any(map(prefix.startswith, found)):
            found.append(prefix)
    return found
