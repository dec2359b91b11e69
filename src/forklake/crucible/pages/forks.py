"""The tree of forks: the line that a catalog comes from, and its own forks, branch by branch."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from forklake.catalog.catalog import Catalog
from forklake.crucible.pages.frames import framed
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import router
from forklake.crucible.pages.visitors import Looking, Visitor
from forklake.store.catalogs import CatalogRow

routes = router()
_PAGE = 50
_DEEPEST = 64  # lines are not longer


@dataclass(frozen=True, slots=True)
class Branch:
    """A catalog in the tree, and how many forks it has."""

    name: str
    at: int | None
    forks: int


@dataclass(frozen=True, slots=True)
class Family:
    """A page of the forks of one catalog; `following` is the name after which there are more."""

    parent: str
    branches: list[Branch]
    following: str | None


@routes.get("/catalogs/{catalog}/forks")
def forks(request: Request, visitor: Looking, catalog: str, after: str = "") -> Response:
    """The tree around a catalog."""
    frame = framed(visitor, catalog, "forks")
    return render(
        request,
        "forks.html",
        frame=frame,
        line=_line(visitor, frame.catalog),
        family=_family(visitor, frame.name, after),
        count=visitor.access.metastore.count_children([frame.catalog.catalog_id]),
    )


@routes.get("/catalogs/{catalog}/branch")
def branch(request: Request, visitor: Looking, catalog: str, after: str = "") -> Response:
    """The forks of one catalog, to be put into the tree."""
    found = visitor.access.catalog(visitor.caller, catalog, "catalog.tree")
    return render(request, "branch.html", family=_family(visitor, found.name, after))


def _line(visitor: Visitor, catalog: Catalog) -> list[Branch]:
    """The ancestors that are still there, the oldest first."""
    metastore = visitor.access.metastore
    found: list[Branch] = []
    row: CatalogRow | None = catalog.row
    while row is not None and row.parent_catalog_id is not None and len(found) < _DEEPEST:
        name = metastore.names([row.parent_catalog_id]).get(row.parent_catalog_id)
        row = metastore.find(name) if name is not None else None
        if row is not None:
            found.append(Branch(row.catalog_name, row.fork_snapshot, 0))
    may_see = visitor.access.rights(visitor.caller, [one.name for one in found])
    return [one for one in reversed(found) if may_see.get(one.name)]


def _family(visitor: Visitor, name: str, after: str) -> Family:
    metastore = visitor.access.metastore
    rows = metastore.children(name, after=after, limit=_PAGE + 1)
    following = rows[_PAGE - 1].catalog_name if len(rows) > _PAGE else None
    may_see = visitor.access.rights(visitor.caller, [row.catalog_name for row in rows])
    shown = [row for row in rows[:_PAGE] if may_see.get(row.catalog_name)]
    counts = metastore.count_children([row.catalog_id for row in shown]) if shown else {}
    return Family(
        name,
        [
            Branch(row.catalog_name, row.fork_snapshot, counts.get(row.catalog_id, 0))
            for row in shown
        ],
        following,
    )
