"""Changes of catalog definitions on behalf of a caller: authorized, retried, audited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.transaction import Transaction
from forklake.crucible.callers import RequestContext
from forklake.crucible.retries import retry_transient

DefinitionChange = Callable[[Transaction], object]


def apply_change(
    context: RequestContext, name: str, operation: str, what: str, change: DefinitionChange
) -> Catalog:
    """Apply one change to a catalog in a transaction, and return the catalog."""
    catalog = context.catalog(name, operation)

    def once() -> None:
        message = f"{operation} {what}"
        with catalog.transaction(author=context.caller.name, message=message) as transaction:
            change(transaction)

    with context.access.audit.recording(
        context.caller, operation, f"{name}.{what}", catalog=catalog
    ):
        retry_transient(once, context.service.metrics)
    return catalog


def read_state(catalog: Catalog, snapshot: int | None, timestamp: datetime | None) -> SnapshotReads:
    """Return the current state of a catalog, or its state at a snapshot or timestamp."""
    if snapshot is None and timestamp is None:
        return catalog.now()
    return catalog.at(version=snapshot, timestamp=timestamp)
