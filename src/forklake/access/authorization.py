"""Authorization checks.

A caller that may not read a catalog gets the same error as for a catalog that does not exist, after
the same work: neither the answer nor its time reveals whether the name exists.
"""

from __future__ import annotations

from collections.abc import Sequence

from forklake.access.callers import Caller
from forklake.access.identities import Identities
from forklake.access.roles import EVERYTHING, NOTHING, OPERATIONS, Right, Special
from forklake.access.rules import effective_rights
from forklake.catalog.catalog import Catalog
from forklake.errors import InvalidInput
from forklake.model.names import checked_catalog_name
from forklake.store.access_grants import Known, look_up
from forklake.store.audit import Deed, Outcome
from forklake.store.catalogs import CatalogRow, find_catalogs, missing


class Checking(Identities):
    """Authorization of callers for operations on catalogs and on the metastore."""

    def catalog(self, caller: Caller, name: str, operation: str) -> Catalog:
        """Return a catalog if the caller may do the operation on it.

        Raises:
            NotFound: the catalog does not exist, or the caller may not read it.
            Forbidden: the caller may read it, but not do the operation.
        """
        _right_for(operation)
        if caller.is_free:
            return self.metastore.catalog(name)
        known = self._look_up(caller, [name])
        return Catalog(self.metastore, self._allowed(caller, name, operation, known))

    def _allowed(self, caller: Caller, name: str, operation: str, known: Known) -> CatalogRow:
        """Do the same as `catalog` with catalogs and grants that have been looked up already."""
        needed = _right_for(operation)
        row, rights = found_in(known, caller, name)
        if row is None or Right.READ not in rights:
            deed = Deed(operation, name, None if row is None else row.catalog_id)
            self._note(caller, deed, Outcome.DENIED)
            raise missing(name)
        if needed not in rights:
            deed = Deed(operation, name, row.catalog_id)
            raise self._forbidden(caller, deed, f"the right {needed.name}")
        return row

    def require(self, caller: Caller, operation: str, *, principal: str | None = None) -> None:
        """Raise Forbidden unless a caller may do an operation that concerns no single catalog.

        Args:
            principal: the principal concerned, for operations that principals may do on themselves.
        """
        rule = OPERATIONS[operation]
        is_self = caller.bound is None and principal == caller.name
        if caller.is_free or rule is Special.ANYONE or (rule is Special.SELF and is_self):
            return
        raise self._forbidden(caller, Deed(operation, principal or "metastore"), "a root")

    def rights(self, caller: Caller, names: Sequence[str]) -> dict[str, frozenset[Right]]:
        """Return the rights of a caller on catalogs, by name; none if a catalog does not exist."""
        if caller.is_free:
            with self.metastore.database.reading() as connection:
                rows = find_catalogs(connection, _possible_names(names))
            there = {row.catalog_name for row in rows}
            return {name: EVERYTHING if possible_name(name) in there else NOTHING for name in names}
        known = self._look_up(caller, names)
        return {name: found_in(known, caller, name)[1] for name in names}

    def _look_up(self, caller: Caller, names: Sequence[str]) -> Known:
        with self._here.required().reading() as connection:
            return look_up(connection, caller.principal_id, _possible_names(names), self._now())


def _right_for(operation: str) -> Right:
    needed = OPERATIONS[operation]
    assert isinstance(needed, Right), f"{operation} does not concern a catalog"
    return needed


def possible_name(name: str) -> str | None:
    """Return a name in its stored form; None if it is not valid for a catalog."""
    try:
        return checked_catalog_name(name)
    except InvalidInput:
        return None


def _possible_names(names: Sequence[str]) -> list[str]:
    return [checked for name in names if (checked := possible_name(name)) is not None]


def found_in(known: Known, caller: Caller, name: str) -> tuple[CatalogRow | None, frozenset[Right]]:
    """Return the catalog with a name among those looked up, and the rights of the caller on it."""
    row = known.rows.get(possible_name(name) or "")
    if row is None:
        return None, NOTHING
    chain = known.chains.get(row.catalog_id, [])
    return row, effective_rights(caller, row.catalog_id, chain, known.prefixes)
