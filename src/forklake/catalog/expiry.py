"""Expiry of snapshots, and deletion of the rows that only they could see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forklake.errors import InvalidInput
from forklake.model.options import as_age
from forklake.model.retention import expirable
from forklake.model.snapshots import Snapshot
from forklake.store.expired import forget_snapshots
from forklake.store.sweep import sweep

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

# A point in time, or how long ago it was.
Moment = datetime | timedelta


def expire_snapshots(
    catalog: Catalog,
    *,
    versions: Sequence[int] | None = None,
    older_than: Moment | None = None,
    dry_run: bool = False,
) -> list[Snapshot]:
    """Expire snapshots of a catalog and return them. Its newest snapshot is never expired.

    Args:
        versions: snapshots to expire; those that do not exist are ignored.
        older_than: expire snapshots from before this time. Without both arguments the option
            `expire_older_than` applies.
        dry_run: only return the snapshots.
    """
    if versions is not None and older_than is not None:
        raise InvalidInput(
            "Expiring snapshots cannot specify both 'versions' and 'older_than'.",
            remedy="Use only one of them.",
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
        catalog.head()  # raises NotFound if the catalog was dropped
        forgotten = forget_snapshots(
            catalog.database,
            catalog.catalog_id,
            versions=None if versions is None else set(versions),
            older_than=moment,
            keys_before=moment_of_option(catalog, "idempotency_key_retention"),
        )
    # Always: an earlier expiry may have been interrupted, or a fork dropped since.
    sweep(catalog.database, [catalog.catalog_id])
    return forgotten


def moment_of(when: Moment) -> datetime:
    """Return a point in time with its time zone."""
    if isinstance(when, timedelta):
        return datetime.now(UTC) - when
    if when.tzinfo is None:
        raise InvalidInput(f"The timestamp {when} has no time zone.", remedy="Add a time zone.")
    return when


def moment_of_option(catalog: Catalog, name: str) -> datetime | None:
    """Return the time that lies as long ago as the age in an option; None if it is not set."""
    state = catalog.refresh()
    value, _ = state.option(name, metastore=catalog.metastore_options())
    return None if value is None else moment_of(as_age(value))
