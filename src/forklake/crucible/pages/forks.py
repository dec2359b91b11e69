"""Fork tree: the ancestors of a catalog and its forks, loaded branch by branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from forklake.catalog.catalog import Catalog
from forklake.crucible.pages.frames import open_frame
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor, Visitor
from forklake.model.ids import CatalogId
from forklake.store.catalogs import CatalogRow

routes = create_router()
_PAGE = 50
_DEEPEST = 64  # maximum length of a lineage


@dataclass(frozen=True, slots=True)
class ForkBranch:
    """Catalog in the tree with its number of forks; None if some may be hidden from the visitor."""

    name: str
    at: int | None
    forks: int | None = None


@dataclass(frozen=True, slots=True)
class ForkPage:
    """Page of the direct forks of a catalog. `following` is the name to continue after, if any."""

    parent: str
    branches: list[ForkBranch]
    following: str | None


@routes.get("/catalogs/{catalog}/forks")
def show_forks(
    request: Request, visitor: CurrentVisitor, catalog: str, after: str = ""
) -> Response:
    """Return the page with the fork tree around a catalog."""
    frame = open_frame(visitor, catalog, "forks")
    return render(
        request,
        "forks.html",
        frame=frame,
        ancestors=_list_ancestors(visitor, frame.catalog),
        family=_read_fork_page(visitor, frame.catalog.row, after),
        count=_count_forks(visitor, [frame.catalog.row]).get(frame.catalog.catalog_id),
    )


@routes.get("/catalogs/{catalog}/branch")
def show_branch(
    request: Request, visitor: CurrentVisitor, catalog: str, after: str = ""
) -> Response:
    """Return the forks of one catalog, to be inserted into the tree."""
    found = visitor.access.authorization.catalog(visitor.caller, catalog, "catalog.tree")
    return render(request, "branch.html", family=_read_fork_page(visitor, found.row, after))


def _list_ancestors(visitor: Visitor, catalog: Catalog) -> list[ForkBranch]:
    """Return the ancestors that were not dropped and that the visitor can read, oldest first."""
    metastore = visitor.access.metastore
    found: list[ForkBranch] = []
    row: CatalogRow | None = catalog.row
    while row is not None and row.parent_catalog_id is not None and len(found) < _DEEPEST:
        name = metastore.names([row.parent_catalog_id]).get(row.parent_catalog_id)
        row = metastore.find(name) if name is not None else None
        if row is not None:
            found.append(ForkBranch(row.catalog_name, row.fork_snapshot))
    may_see = visitor.access.authorization.rights(visitor.caller, [one.name for one in found])
    return [one for one in reversed(found) if may_see.get(one.name)]


def _read_fork_page(visitor: Visitor, parent: CatalogRow, after: str) -> ForkPage:
    found = visitor.access.visible.forks(visitor.caller, parent, after=after)
    rows = list(islice(found, _PAGE + 1))
    shown = rows[:_PAGE]
    counts = _count_forks(visitor, shown)
    branches = [
        ForkBranch(row.catalog_name, row.fork_snapshot, counts.get(row.catalog_id)) for row in shown
    ]
    return ForkPage(
        parent.catalog_name, branches, shown[-1].catalog_name if len(rows) > _PAGE else None
    )


def _count_forks(visitor: Visitor, rows: Sequence[CatalogRow]) -> dict[CatalogId, int]:
    """Return the numbers of forks, or nothing for visitors from whom forks may be hidden."""
    if not rows or not visitor.caller.is_free:
        return {}
    ids = [row.catalog_id for row in rows]
    return dict.fromkeys(ids, 0) | visitor.access.metastore.count_children(ids)
