"""Public interface of the access rules of one metastore, for services and the command line."""

from __future__ import annotations

from forklake.access.callers import Caller
from forklake.access.provisioning import Provisioning
from forklake.access.quotas import Limiting
from forklake.errors import InvalidInput
from forklake.store.access_grants import tidy_grants
from forklake.store.audit import AuditRow, list_audit


class Access(Provisioning, Limiting):
    """Access rules of one metastore. Safe to share between threads.

    Every method first checks that the caller is allowed to do it. For operations without a method,
    get the catalog from `catalog` and do them inside of `audited`.
    """

    def audit(
        self,
        caller: Caller,
        *,
        catalog: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[AuditRow]:
        """Return audit entries, newest first: of one catalog for its admins, of all for a root.

        Args:
            after: id of the last entry of the previous page.
        """
        if not 1 <= limit <= 10_000:
            raise InvalidInput(
                f"A page of {limit} audit entries cannot be listed.",
                remedy="Use a limit of 1 to 10000.",
            )
        number = None
        if catalog is None:
            self.require(caller, "audit.all")
        else:
            number = self.catalog(caller, catalog, "audit.catalog").catalog_id
        if not self._here.is_there():
            return []
        last = None if after is None else str(after)
        with self._here.database.reading() as connection:
            return list_audit(connection, catalog_id=number, after=last, limit=limit)

    def tidy(self) -> int:
        """Remove grants on catalogs that ended without their removal; return how many.

        Catalogs that expire or are dropped outside of the access rules leave their grants behind.
        """
        return tidy_grants(self._here.database) if self._here.is_there() else 0
