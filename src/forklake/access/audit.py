"""Audit log: what callers did, and what they were not allowed to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from forklake.access.authorization import Authorization
from forklake.access.callers import Caller
from forklake.access.context import AccessContext
from forklake.catalog.catalog import Catalog
from forklake.errors import Forbidden, ForklakeError, InvalidInput
from forklake.model.ids import CatalogId
from forklake.store.audit import Actor, AuditRow, Deed, Outcome, list_audit, write_audit


@dataclass(frozen=True, eq=False)
class AuditLog:
    """Audit entries of one metastore."""

    _context: AccessContext
    _authorization: Authorization

    def list(
        self,
        caller: Caller,
        *,
        catalog: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[AuditRow]:
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
            self._authorization.require(caller, "audit.all")
        else:
            number = self._authorization.catalog(caller, catalog, "audit.catalog").catalog_id
        here = self._context.here
        if not here.is_there():
            return []
        last = None if after is None else str(after)
        with here.database.reading() as connection:
            return list_audit(connection, catalog_id=number, after=last, limit=limit)

    @contextmanager
    def recording(
        self, caller: Caller, operation: str, object: str, *, catalog: Catalog | None = None
    ) -> Iterator[None]:
        """Write the outcome of the block to the audit: done, denied or failed."""
        number: CatalogId | None = None if catalog is None else catalog.catalog_id
        deed = Deed(operation, object, number)
        try:
            yield
        except ForklakeError as error:
            denied = isinstance(error, Forbidden)
            self._context.record(caller, deed, Outcome.DENIED if denied else Outcome.FAILED)
            raise
        except BaseException:
            self._context.record(caller, deed, Outcome.FAILED)
            raise
        self._context.record(caller, deed, Outcome.DONE)

    def record_denial(self, caller: Caller, operation: str, object: str) -> None:
        """Write an audit entry for a denied operation that concerns no single catalog."""
        self._context.record(caller, Deed(operation, object), Outcome.DENIED)

    def write_denials(self) -> None:
        """Write summary audit entries for denials that were too frequent for an entry each."""
        if not self._context.here.is_there():
            return
        for refused, count in self._context.denials.take():
            actor = Actor(refused.principal_id, refused.principal, self._context.now())
            deed = Deed(refused.operation, f"{count} more, not listed one by one")
            write_audit(self._context.here.database, actor, deed, refused.outcome)
