"""Expiry: a catalog forgets snapshots, and with them the rows that only they could see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.model.options import as_age
from forklake.model.retention import expirable
from forklake.model.snapshots import Snapshot
from forklake.store.expired import forget_snapshots
from forklake.store.sweeping import sweep

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

# A moment, or how long ago it was.
Moment = datetime | timedelta


def expire_snapshots(
    catalog: Catalog,
    *,
    versions: Sequence[int] | None = None,
    older_than: Moment | None = None,
    dry_run: bool = False,
) -> list[Snapshot]:
    """Forget snapshots of a catalog's own; its newest always stays. Returns those forgotten.

    Args:
        versions: which ones; those that are not there are passed over.
        older_than: those from before a moment. With neither, the option `expire_older_than` says.
        dry_run: only tell which ones it would be.
    """
    if versions is not None and older_than is not None:
        raise InvalidInput(
            "Expiring snapshots cannot specify both 'versions' and 'older_than'.",
            remedy="Give one of them.",
        )
    moment = None if older_than is None else moment_of(older_than)
    if versions is None and moment is None:
        moment = moment_of_option(catalog, "expire_older_than")
    if dry_run:
        chosen = None if versions is None else set(versions)
        found = catalog.snapshots()
        return expirable(found, catalog.catalog_id, versions=chosen, older_than=moment)
    forgotten: list[Snapshot] = []
    if versions or moment is not None:
        catalog.head()  # or NotFound, if the catalog is gone
        forgotten = forget_snapshots(
            catalog.database,
            catalog.catalog_id,
            versions=None if versions is None else set(versions),
            older_than=moment,
            keys_before=moment_of_option(catalog, "idempotency_key_retention"),
        )
    # Always: an expiry before may have been cut short, or a fork dropped since.
    sweep(catalog.database, [catalog.catalog_id])
    return forgotten


def moment_of(when: Moment) -> datetime:
    """A moment with its time zone."""
    if isinstance(when, timedelta):
        return datetime.now(UTC) - when
    if when.tzinfo is None:
        raise InvalidInput(f"The timestamp {when} has no time zone.", remedy="Add one.")
    return when


def moment_of_option(catalog: Catalog, name: str) -> datetime | None:
    """The moment before which an option says that something may go; None if it is not set."""
    state = catalog.refresh()
    value, _ = state.option(name, metastore=catalog.metastore_options())
    return None if value is None else moment_of(as_age(value))
