"""Page with the storage use of a catalog: private, shared, by fork and by table."""

from __future__ import annotations

from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.contents import list_contents
from forklake.crucible.pages.frames import open_frame
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor

routes = create_router()
_FORKS = 20  # number of forks that are compared with the catalog


@routes.get("/catalogs/{catalog}/storage")
def show_storage(request: Request, visitor: CurrentVisitor, catalog: str) -> Response:
    """Return the page with the bytes of a catalog, of its first forks, and of its tables."""
    frame = open_frame(visitor, catalog, "storage")
    metastore = visitor.access.metastore
    compared = islice(visitor.access.visible.forks(visitor.caller, frame.catalog.row), _FORKS)
    own, *forks = metastore.storage([frame.name, *(row.catalog_name for row in compared)])
    tables = [
        (group.name, table)
        for group in list_contents(frame.catalog.now())
        for table in group.tables
        if table.bytes
    ]
    tables.sort(key=lambda one: -one[1].bytes)
    return render(
        request,
        "storage.html",
        frame=frame,
        own=own,
        forks=forks,
        tables=tables[:_FORKS],
        largest=max((one.private_bytes + one.shared_bytes for one in [own, *forks]), default=0),
        waiting=len(frame.catalog.scheduled_files()),
    )
