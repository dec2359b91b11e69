"""expire_snapshots: a catalog forgets its past, by a session's alias or by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.expiry import Moment
from forklake.model.snapshots import Snapshot

if TYPE_CHECKING:
    from forklake.spark.session import Session


def expire_snapshots(
    place: Session | Catalog,
    alias: str = "",
    *,
    versions: Sequence[int] | None = None,
    older_than: Moment | None = None,
    dry_run: bool = False,
) -> list[Snapshot]:
    """Forget snapshots of a catalog, or of what a session has attached under an alias.

    Arguments and result as of `Catalog.expire_snapshots`.
    """
    catalog = writable(place, alias)
    return catalog.expire_snapshots(versions=versions, older_than=older_than, dry_run=dry_run)


def writable(place: Session | Catalog, alias: str) -> Catalog:
    """The catalog that is meant; Forbidden if it is attached read-only."""
    if isinstance(place, Catalog):
        return place
    attachment = place.attachment(alias)
    attachment.require_writable()
    return attachment.catalog
