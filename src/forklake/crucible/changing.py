"""Changing a catalog on behalf of a caller: allowed, tried again, audited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from forklake.catalog.catalog import Catalog
from forklake.catalog.reading import Snapshotted
from forklake.catalog.transaction import Transaction
from forklake.crucible.callers import Visit
from forklake.crucible.retries import persistently

Change = Callable[[Transaction], object]


def changed(visit: Visit, name: str, operation: str, what: str, change: Change) -> Catalog:
    """Do one change of a catalog's definitions, in a transaction; the catalog afterwards."""
    catalog = visit.catalog(name, operation)

    def once() -> None:
        message = f"{operation} {what}"
        with catalog.transaction(author=visit.caller.name, message=message) as transaction:
            change(transaction)

    with visit.access.audited(visit.caller, operation, f"{name}.{what}", catalog=catalog):
        persistently(once, visit.service.metrics)
    return catalog


def seen(catalog: Catalog, snapshot: int | None, timestamp: datetime | None) -> Snapshotted:
    """A catalog as it is, or as it was."""
    if snapshot is None and timestamp is None:
        return catalog.now()
    return catalog.at(version=snapshot, timestamp=timestamp)
