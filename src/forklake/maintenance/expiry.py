"""expire_snapshots, for the alias of a session or for a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.expiry import Moment
from forklake.model.snapshots import Snapshot

if TYPE_CHECKING:
    from forklake.session.session import Session


def expire_snapshots(
    place: Session | Catalog,
    alias: str = "",
    *,
    versions: Sequence[int] | None = None,
    older_than: Moment | None = None,
    dry_run: bool = False,
) -> list[Snapshot]:
    """Expire snapshots of a catalog, or of the catalog that a session has attached as `alias`.

    Arguments and result are those of `Catalog.expire_snapshots`.
    """
    catalog = writable(place, alias)
    return catalog.expire_snapshots(versions=versions, older_than=older_than, dry_run=dry_run)


def writable(place: Session | Catalog, alias: str) -> Catalog:
    """Return the catalog of an alias. Raise Forbidden if it is attached read-only."""
    if isinstance(place, Catalog):
        return place
    attachment = place.attachment(alias)
    attachment.require_writable()
    return attachment.catalog
