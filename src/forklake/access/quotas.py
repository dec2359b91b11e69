"""Quotas of principals and of catalogs."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.access.audit import AuditLog
from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.access.principals import Principals
from forklake.errors import InvalidInput, QuotaExceeded
from forklake.store import quotas as store
from forklake.store.quotas import Quota


@dataclass(frozen=True, eq=False)
class Quotas:
    """Management and enforcement of quotas."""

    _context: AccessContext
    _authorization: Authorization
    _audit: AuditLog
    _principals: Principals

    def find(self, caller: Caller, principal: str) -> Quota:
        """Return the limits of a principal."""
        self._authorization.require(caller, "quota.own", principal=principal)
        number = self._principals.find(principal).principal_id
        with self._context.here.required().reading() as connection:
            return store.find_quota(connection, number)

    def set(
        self,
        caller: Caller,
        principal: str,
        *,
        catalogs: int | None = None,
        bytes: int | None = None,
        sessions: int | None = None,
    ) -> None:
        """Set the limits of a principal: catalogs it owns, bytes of each of them, open sessions.

        None means no limit. Existing catalogs and files are kept, even beyond a new limit.
        """
        self._authorization.require(caller, "quota.set")
        quota = Quota(*map(_checked_limit, (catalogs, bytes, sessions)))
        number = self._principals.find(principal).principal_id
        with self._audit.recording(caller, "quota.set", principal):
            store.write_quota(self._context.here.required(), number, quota)

    def find_catalog_limit(self, caller: Caller, catalog: str) -> int | None:
        """Return the maximum bytes of files written by a catalog; None for no limit."""
        found = self._authorization.catalog(caller, catalog, "quota.get")
        with self._context.metastore.database.reading() as connection:
            return store.find_catalog_limit(connection, found.catalog_id)

    def set_catalog_limit(self, caller: Caller, catalog: str, limit: int | None) -> None:
        """Set the maximum bytes of files written by a catalog; None for no limit."""
        self._authorization.require(caller, "quota.set")
        found = self._context.metastore.catalog(catalog)
        with self._audit.recording(caller, "quota.set", catalog, catalog=found):
            store.write_catalog_limit(
                self._context.metastore.database, found.catalog_id, _checked_limit(limit)
            )

    def check_sessions(self, caller: Caller, open_now: int) -> None:
        """Raise QuotaExceeded if a caller has reached its maximum number of sessions."""
        if caller.is_free or not self._context.here.is_there():
            return
        with self._context.here.database.reading() as connection:
            limit = store.find_quota(connection, caller.principal_id).sessions
        if limit is not None and open_now >= limit:
            raise QuotaExceeded(
                f"The principal '{caller.name}' has {open_now} open sessions of at most {limit}.",
                remedy="Close one of them. An administrator can raise the limit.",
                limit=limit,
                used=open_now,
            )


def _checked_limit(limit: int | None) -> int | None:
    if limit is not None and not 0 <= limit < 2**63:
        raise InvalidInput(f"The limit {limit} is not valid.", remedy="Use 0 or more.")
    return limit
