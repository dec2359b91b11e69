"""Frames: what every page of a catalog shows around its own matter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.access.roles import OPERATIONS, Right
from forklake.catalog.catalog import Catalog
from forklake.catalog.reading import Snapshotted
from forklake.crucible.pages.visitors import Visitor
from forklake.model.snapshots import Head

# The pages of a catalog: the last part of the address, what it is called, and what it takes.
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
class Frame:
    """A catalog, where it comes from, its newest snapshot, and what the visitor may do to it."""

    catalog: Catalog
    tab: str
    parent: str | None
    head: Head
    rights: frozenset[Right]
    ends_at: datetime | None

    @property
    def name(self) -> str:
        """The catalog's name."""
        return self.catalog.name

    @property
    def tabs(self) -> list[tuple[str, str]]:
        """The pages that the visitor may see."""
        return [(path, label) for path, label, operation in TABS if self.may(operation)]

    def may(self, operation: str) -> bool:
        """Whether the visitor may do something to the catalog."""
        return OPERATIONS[operation] in self.rights


def framed(visitor: Visitor, name: str, tab: str, operation: str | None = None) -> Frame:
    """The frame around a page of a catalog, if the visitor may do what the page takes."""
    wanted = operation or _OPERATIONS[tab]
    catalog = visitor.access.catalog(visitor.caller, name, wanted)
    rights = visitor.access.rights(visitor.caller, [catalog.name])
    return Frame(
        catalog=catalog,
        tab=tab,
        parent=visitor.access.parent(visitor.caller, catalog.row),
        head=catalog.head(),
        rights=rights.get(catalog.name, frozenset()),
        ends_at=catalog.expires_at(),
    )


def look(frame: Frame, snapshot: int | None) -> Snapshotted:
    """The catalog as it is, or as it was at a snapshot."""
    catalog = frame.catalog
    return catalog.now() if snapshot is None else catalog.at(version=snapshot)
