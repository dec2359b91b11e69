"""Limits: quotas of principals and of catalogs."""

from __future__ import annotations

from forklake.access.callers import Caller
from forklake.access.granting import Granting
from forklake.errors import InvalidInput, QuotaExceeded
from forklake.store import quotas as store
from forklake.store.quotas import Quota


class Limiting(Granting):
    """Who may have how much."""

    def quota(self, caller: Caller, principal: str) -> Quota:
        """The limits of a principal."""
        self.require(caller, "quota.own", principal=principal)
        number = self.principal(principal).principal_id
        with self._here.required().reading() as connection:
            return store.find_quota(connection, number)

    def set_quota(
        self,
        caller: Caller,
        principal: str,
        *,
        catalogs: int | None = None,
        bytes: int | None = None,
        sessions: int | None = None,
    ) -> None:
        """Set the limits of a principal: catalogs it owns, bytes of each of them, sessions.

        What is left out is without limit. What is there already stays, whatever its size.
        """
        self.require(caller, "quota.set")
        quota = Quota(*map(_checked_limit, (catalogs, bytes, sessions)))
        number = self.principal(principal).principal_id
        with self.audited(caller, "quota.set", principal):
            store.write_quota(self._here.required(), number, quota)

    def catalog_limit(self, caller: Caller, catalog: str) -> int | None:
        """How many bytes the files that a catalog wrote may take."""
        found = self.catalog(caller, catalog, "quota.get")
        with self.metastore.database.reading() as connection:
            return store.find_catalog_limit(connection, found.catalog_id)

    def limit_catalog(self, caller: Caller, catalog: str, limit: int | None) -> None:
        """Set how many bytes the files that a catalog wrote may take."""
        self.require(caller, "quota.set")
        found = self.metastore.catalog(catalog)
        with self.audited(caller, "quota.set", catalog, catalog=found):
            store.write_catalog_limit(
                self.metastore.database, found.catalog_id, _checked_limit(limit)
            )

    def check_sessions(self, caller: Caller, open_now: int) -> None:
        """Raise QuotaExceeded if a caller has as many sessions as it may."""
        if caller.is_free or not self._here.is_there():
            return
        with self._here.database.reading() as connection:
            limit = store.find_quota(connection, caller.principal_id).sessions
        if limit is not None and open_now >= limit:
            raise QuotaExceeded(
                f"'{caller.name}' has {open_now} of at most {limit} sessions open.",
                remedy="Close one, or ask for a higher limit.",
                limit=limit,
                used=open_now,
            )


def _checked_limit(limit: int | None) -> int | None:
    if limit is not None and not 0 <= limit < 2**63:
        raise InvalidInput(f"{limit} cannot be a limit.", remedy="Use 0 or more.")
    return limit
