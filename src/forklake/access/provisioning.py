"""Creating, forking, renaming and dropping catalogs with access rules.

Names are checked before anything is looked up: outside of the prefixes of a caller the answer is
the same whether or not a name is taken. Owners, limits and audit entries are written in the
transaction that creates or drops the catalogs. If these are not the catalogs that were checked (a
concurrent rename, for example), the transaction fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from forklake.access.authorization import Authorization, found_in
from forklake.access.callers import LOCAL, Caller
from forklake.access.context import AccessContext
from forklake.access.roles import Right
from forklake.access.rules import may_make, may_make_under
from forklake.catalog.catalog import Catalog
from forklake.errors import AlreadyExists, ForklakeError
from forklake.model.ids import CatalogId
from forklake.model.names import checked_catalog_name
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store.access_grants import Known, grants_end, owners_insert
from forklake.store.audit import Actor, Deed, Outcome, audit_insert
from forklake.store.catalogs import CatalogRow, missing, taken
from forklake.store.database import Connection
from forklake.store.forks import other_fork
from forklake.store.operations import Operation
from forklake.store.provisioning import Provided
from forklake.store.quotas import Quota, catalog_limits, limits_insert, require_catalogs


@dataclass(frozen=True, eq=False)
class Catalogs:
    """Creation, renaming and removal of catalogs by callers."""

    _context: AccessContext
    _authorization: Authorization

    def create(self, caller: Caller, request: CreateRequest) -> Provided:
        """Create empty catalogs, which the caller owns.

        The data path of files decides who can reach them: let only roots choose it.
        """
        self._authorization.require_writable(caller)
        known = self._look_up(caller, [])
        self._require_names(caller, "catalog.create", request.names, known)
        making = self._making(caller, "catalog.create", known)
        with self._failures(caller, "catalog.create", request.names):
            provided = self._context.metastore.create(request, besides=making)
        self._require_readable(caller, provided.rows, making.made)
        return provided

    def fork(self, caller: Caller, request: ForkRequest) -> Provided:
        """Create forks, which the caller owns."""
        self._authorization.require_writable(caller)
        known = self._look_up(caller, [request.parent])
        source = self._checked(caller, [request.parent], "catalog.fork", known)
        self._require_names(caller, "catalog.fork", request.names, known)
        making = self._making(caller, "catalog.fork", known, source)
        failures = self._failures(caller, "catalog.fork", request.names)
        with failures, self._hiding(caller, request.parent):
            provided = self._context.metastore.create_forks(request, besides=making)
        self._require_readable(caller, provided.rows, making.made)
        return provided

    def rename(self, caller: Caller, name: str, new_name: str) -> Catalog:
        """Rename a catalog, and return it."""
        self._authorization.require_writable(caller)
        checked = checked_catalog_name(new_name)
        known = self._look_up(caller, [name])
        rows = self._checked(caller, [name], "catalog.rename", known)
        self._require_names(caller, "catalog.rename", [checked], known)
        ending = self._ending(caller, "catalog.rename", rows, f" from {name}")
        with self._failures(caller, "catalog.rename", [name]):
            return self._context.metastore.rename_catalog(name, checked, besides=ending)

    def drop(self, caller: Caller, names: Sequence[str], *, if_exists: bool = False) -> int:
        """Drop all of the catalogs or none of them; return how many existed."""
        self._authorization.require_writable(caller)
        known = self._look_up(caller, names)
        wanted = list(names)
        if if_exists and not caller.is_free:
            wanted = [name for name in names if Right.READ in found_in(known, caller, name)[1]]
        rows = self._checked(caller, wanted, "catalog.drop", known)
        ending = self._ending(caller, "catalog.drop", rows)
        with self._failures(caller, "catalog.drop", wanted):
            return self._context.metastore.drop_catalogs(
                wanted, if_exists=if_exists, besides=ending
            )

    # Checks

    def _look_up(self, caller: Caller, names: Sequence[str]) -> Known:
        """Return catalogs and grants needed for checks; none for a caller without checks."""
        return (
            Known({}, {}, [], Quota())
            if caller.is_free
            else self._authorization.look_up(caller, names)
        )

    def _checked(
        self, caller: Caller, names: Sequence[str], operation: str, known: Known
    ) -> list[CatalogRow] | None:
        """Return the catalogs after checking the operation on each; None for a free caller."""
        if caller.is_free:
            return None
        return [self._authorization.check(caller, name, operation, known) for name in names]

    def _require_names(
        self, caller: Caller, operation: str, names: Sequence[str], known: Known
    ) -> None:
        """Raise Forbidden unless the caller may create catalogs with these names."""
        is_bound = caller.bound is not None and operation == "catalog.create"
        for name in names:
            if is_bound or not may_make(caller, name, known.prefixes):
                needed = "a grant with ADMINISTER on a prefix of the name"
                raise self._authorization.forbidden(caller, Deed(operation, name), needed)

    def _require_readable(self, caller: Caller, rows: Sequence[CatalogRow], made: set[str]) -> None:
        """Raise AlreadyExists for existing catalogs that the caller may not read."""
        found = [row.catalog_name for row in rows if row.catalog_name not in made]
        rights = self._authorization.rights(caller, found) if found and not caller.is_free else {}
        hidden = [name for name, given in rights.items() if Right.READ not in given]
        if hidden:
            raise taken(hidden)

    @contextmanager
    def _hiding(self, caller: Caller, parent: str) -> Iterator[None]:
        """Remove facts from errors about existing forks that the caller may not read."""
        try:
            yield
        except AlreadyExists as reason:
            row = self._context.metastore.find(reason.details.get("fork", ""))
            if row is None or caller.is_free:
                raise
            self._require_readable(caller, [row], set())
            of = reason.details.get("parent")
            if of is not None and Right.READ not in self._authorization.rights(caller, [of])[of]:
                raise other_fork(row, parent, None) from None
            raise

    @contextmanager
    def _failures(self, caller: Caller, operation: str, names: Sequence[str]) -> Iterator[None]:
        """Write failures to the audit. Successes are written in their own transaction."""
        try:
            yield
        except ForklakeError:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            self._context.record(caller, Deed(operation, f"{names[0]}{more}"), Outcome.FAILED)
            raise

    # Hooks into the transactions of the metastore

    def _making(
        self,
        caller: Caller,
        operation: str,
        known: Known,
        parents: Sequence[CatalogRow] | None = None,
    ) -> _Making:
        actor = self._context.actor(caller) if self._context.here.is_there() else None
        return _Making(actor, operation, known, parents[0] if parents else None)

    def _ending(
        self, caller: Caller, operation: str, rows: Sequence[CatalogRow] | None, more: str = ""
    ) -> _Ending:
        actor = self._context.actor(caller) if self._context.here.is_there() else None
        ids = None if rows is None else {row.catalog_id for row in rows}
        return _Ending(actor, operation, ids, more)


class _Making:
    """Hook into the creation of catalogs: records their names, owner, limits and audit entries."""

    def __init__(
        self, actor: Actor | None, operation: str, known: Known, parent: CatalogRow | None
    ) -> None:
        self.made: set[str] = set()
        self._actor = actor
        self._operation = operation
        self._quota = known.quota
        self._prefixes = [one.prefix for one in known.prefixes if may_make_under(one)]
        self._parent = parent

    def __call__(self, connection: Connection, rows: Sequence[CatalogRow]) -> list[Operation]:
        if self._parent is not None and rows[0].parent_catalog_id != self._parent.catalog_id:
            raise missing(self._parent.catalog_name)  # another catalog now has this name
        found = [] if self._actor is None else self._operations(connection, self._actor, rows)
        self.made.update(row.catalog_name for row in rows)
        return found

    def _operations(
        self, connection: Connection, actor: Actor, rows: Sequence[CatalogRow]
    ) -> list[Operation]:
        if self._quota.catalogs is not None:
            require_catalogs(connection, actor.principal_id, len(rows), self._prefixes)
        ids = [row.catalog_id for row in rows]
        found: list[Operation] = [audit_insert(actor, _deeds(self._operation, rows), Outcome.DONE)]
        if actor.principal_id != LOCAL.principal_id:
            found.append(owners_insert(actor.principal_id, ids))
        return [*found, *limits_insert(ids, self._quota.bytes)]


class _Ending:
    """Hook into dropping and renaming: only catalogs that were checked may be affected."""

    def __init__(
        self, actor: Actor | None, operation: str, ids: set[CatalogId] | None, more: str
    ) -> None:
        self._actor = actor
        self._operation = operation
        self._ids = ids
        self._more = more  # appended to the name in audit entries

    def __call__(self, connection: Connection, rows: Sequence[CatalogRow]) -> list[Operation]:
        for row in rows:
            if self._ids is not None and row.catalog_id not in self._ids:
                raise missing(row.catalog_name)  # another catalog now has this name
        if self._actor is None:
            return []
        deeds = _deeds(self._operation, rows, self._more)
        noted = audit_insert(self._actor, deeds, Outcome.DONE)
        if self._operation != "catalog.drop":
            return [noted]
        ids = [row.catalog_id for row in rows]
        return [noted, grants_end(connection, ids), *catalog_limits(connection, ids, None)]


def _deeds(operation: str, rows: Sequence[CatalogRow], more: str = "") -> list[Deed]:
    return [Deed(operation, f"{row.catalog_name}{more}", row.catalog_id) for row in rows]
