"""Header and tabs that all pages of a catalog share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.access.roles import OPERATIONS, Right
from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.crucible.pages.visitors import Visitor
from forklake.model.snapshots import Head

# Pages of a catalog: last path segment, label, and the operation that the visitor must be allowed.
TABS = (
    ("", "Tables", "table.list"),
    ("sql", "SQL", "session.open"),
    ("forks", "Forks", "catalog.tree"),
    ("snapshots", "Snapshots", "snapshot.list"),
    ("storage", "Storage", "storage.get"),
    ("options", "Options", "options.get"),
    ("mirrors", "Mirrors", "mirror.list"),
    ("maintenance", "Maintenance", "maintenance.list"),
    ("grants", "Grants", "grants.list"),
)
_OPERATIONS = {path: operation for path, _, operation in TABS}


@dataclass(frozen=True, slots=True)
class CatalogFrame:
    """Catalog with its parent, its head snapshot, and the rights of the visitor."""

    catalog: Catalog
    tab: str
    parent: str | None
    head: Head
    rights: frozenset[Right]
    ends_at: datetime | None

    @property
    def name(self) -> str:
        """Name of the catalog."""
        return self.catalog.name

    @property
    def tabs(self) -> list[tuple[str, str]]:
        """Paths and labels of the pages that the visitor can open."""
        return [(path, label) for path, label, operation in TABS if self.may(operation)]

    def may(self, operation: str) -> bool:
        """Return whether the visitor can perform an operation on the catalog."""
        return OPERATIONS[operation] in self.rights


def open_frame(visitor: Visitor, name: str, tab: str, operation: str | None = None) -> CatalogFrame:
    """Return the frame of a page. Raise NotFound or Forbidden if the visitor cannot open it."""
    required = operation or _OPERATIONS[tab]
    catalog = visitor.access.authorization.catalog(visitor.caller, name, required)
    rights = visitor.access.authorization.rights(visitor.caller, [catalog.name])
    return CatalogFrame(
        catalog=catalog,
        tab=tab,
        parent=visitor.access.visible.parent(visitor.caller, catalog.row),
        head=catalog.head(),
        rights=rights.get(catalog.name, frozenset()),
        ends_at=catalog.expires_at(),
    )


def read_state(frame: CatalogFrame, snapshot: int | None) -> SnapshotReads:
    """Return the current state of the catalog, or its state at a snapshot."""
    catalog = frame.catalog
    return catalog.now() if snapshot is None else catalog.at(version=snapshot)
