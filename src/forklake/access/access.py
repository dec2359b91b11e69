"""Access: the rules of one metastore, as those use them who serve others."""

from __future__ import annotations

from forklake.access.callers import Caller
from forklake.access.limiting import Limiting
from forklake.access.provisioning import Provisioning
from forklake.errors import InvalidInput
from forklake.store.access_grants import tidy_grants
from forklake.store.audit import AuditRow, list_audit


class Access(Provisioning, Limiting):
    """Who may do what in a metastore. Safe to share between threads.

    Every method that does something asks first whether the caller may. What methods do not cover
    is done with the catalog that `catalog` gives, inside of `audited`.
    """

    def audit(
        self,
        caller: Caller,
        *,
        catalog: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[AuditRow]:
        """What was done, denied or failed, the newest first: of a catalog for its admins, of all
        for a root. `after` is the id of the last entry of the page before."""
        if not 1 <= limit <= 10_000:
            raise InvalidInput(
                f"A page of {limit} entries cannot be listed.", remedy="Use 1 to 10000."
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
        """Remove the grants on catalogs that ended without being dropped here; how many."""
        return tidy_grants(self._here.database) if self._here.is_there() else 0
