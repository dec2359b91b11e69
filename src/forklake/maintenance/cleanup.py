"""cleanup_old_files and delete_orphaned_files, for the alias of a session or for a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklake.catalog.catalog import Catalog
from forklake.catalog.expiry import Moment
from forklake.maintenance.expiry import writable

if TYPE_CHECKING:
    from forklake.session.session import Session


def cleanup_old_files(
    place: Session | Catalog,
    alias: str = "",
    *,
    older_than: Moment | None = None,
    cleanup_all: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Delete files that no snapshot needs any more; see `Catalog.cleanup_old_files`."""
    return writable(place, alias).cleanup_old_files(
        older_than=older_than, cleanup_all=cleanup_all, dry_run=dry_run
    )


def delete_orphaned_files(
    place: Session | Catalog,
    alias: str = "",
    *,
    older_than: Moment | None = None,
    cleanup_all: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Delete files that no snapshot ever referenced; see `Catalog.delete_orphaned_files`."""
    return writable(place, alias).delete_orphaned_files(
        older_than=older_than, cleanup_all=cleanup_all, dry_run=dry_run
    )
