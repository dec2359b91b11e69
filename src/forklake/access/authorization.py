"""Authorization checks.

A caller that may not read a catalog gets the same error as for a catalog that does not exist, after
the same work: neither the answer nor its time reveals whether the name exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.roles import EVERYTHING, NOTHING, OPERATIONS, Right, Special
from forklake.access.rules import effective_rights
from forklake.catalog.catalog import Catalog
from forklake.errors import Forbidden, InvalidInput, Unavailable
from forklake.model.names import checked_catalog_name
from forklake.store.access_grants import Known, look_up
from forklake.store.audit import Deed, Outcome
from forklake.store.catalogs import CatalogRow, find_catalogs, missing

# Read-only operations that require more than the READ right.
_ONLY_READ = frozenset({"grants.list", "audit.catalog"})
# Operations without a catalog that write rows which move together with the catalogs.
_BESIDE_CATALOGS = frozenset({"grants.prefix", "quota.set", "principal.create"})


@dataclass(frozen=True, eq=False)
class Authorization:
    """Checks of callers for operations on catalogs and on the metastore."""

    _context: AccessContext

    def catalog(self, caller: Caller, name: str, operation: str) -> Catalog:
        """Return a catalog if the caller may do the operation on it.

        Raises:
            NotFound: the catalog does not exist, or the caller may not read it.
            Forbidden: the caller may read it, but not do the operation.
            Unavailable: the operation is a change, and the account is being moved.
        """
        found = self._find(caller, name, operation)
        if OPERATIONS[operation] is not Right.READ and operation not in _ONLY_READ:
            self.require_writable(caller)
        return found

    def _find(self, caller: Caller, name: str, operation: str) -> Catalog:
        _right_for(operation)
        metastore = self._context.metastore
        if caller.is_free:
            return metastore.catalog(name)
        known = self.look_up(caller, [name])
        return Catalog(metastore, self.check(caller, name, operation, known))

    def check(self, caller: Caller, name: str, operation: str, known: Known) -> CatalogRow:
        """Do the same as `catalog` with catalogs and grants that have been looked up already."""
        needed = _right_for(operation)
        row, rights = found_in(known, caller, name)
        if row is None or Right.READ not in rights:
            deed = Deed(operation, name, None if row is None else row.catalog_id)
            self._context.record(caller, deed, Outcome.DENIED)
            raise missing(name)
        if needed not in rights:
            deed = Deed(operation, name, row.catalog_id)
            raise self.forbidden(caller, deed, f"the right {needed.name}")
        return row

    def require(self, caller: Caller, operation: str, *, principal: str | None = None) -> None:
        """Raise Forbidden unless a caller may do an operation that concerns no single catalog.

        Args:
            principal: the principal concerned, for operations that principals may do on themselves.
        """
        rule = OPERATIONS[operation]
        is_self = caller.bound is None and principal == caller.name
        is_allowed = rule is Special.ANYONE or (rule is Special.SELF and is_self)
        if not (caller.is_free or is_allowed):
            raise self.forbidden(caller, Deed(operation, principal or "metastore"), "a root")
        if operation in _BESIDE_CATALOGS:
            self.require_writable(caller)

    def require_writable(self, caller: Caller) -> None:
        """Raise Unavailable if the account of the caller is being moved."""
        if self._context.is_frozen:
            raise Unavailable(
                f"Account '{caller.account}' is being moved to another stamp and is read-only"
                " meanwhile.",
                remedy="Try again when the move has finished.",
            )

    def rights(self, caller: Caller, names: Sequence[str]) -> dict[str, frozenset[Right]]:
        """Return the rights of a caller on catalogs, by name; none if a catalog does not exist."""
        usable = frozenset({Right.READ}) if self._context.is_frozen else EVERYTHING
        if caller.is_free:
            with self._context.metastore.database.reading() as connection:
                rows = find_catalogs(connection, _possible_names(names))
            there = {row.catalog_name for row in rows}
            return {name: usable if possible_name(name) in there else NOTHING for name in names}
        known = self.look_up(caller, names)
        return {name: found_in(known, caller, name)[1] & usable for name in names}

    def look_up(self, caller: Caller, names: Sequence[str]) -> Known:
        """Return the catalogs with these names, and the grants of the caller that apply to them."""
        now = self._context.now()
        with self._context.here.required().reading() as connection:
            return look_up(connection, caller.principal_id, _possible_names(names), now)

    def forbidden(self, caller: Caller, deed: Deed, needed: str) -> Forbidden:
        """Return the error for an operation that the caller may not do, and write it to the audit.

        Args:
            needed: what the operation requires, for the message.
        """
        self._context.record(caller, deed, Outcome.DENIED)
        return Forbidden(
            f"The principal '{caller.name}' may not do {deed.operation} on '{deed.object}'.",
            remedy=f"This requires {needed}. An administrator can grant it.",
            operation=deed.operation,
        )


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
