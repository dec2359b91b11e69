"""Page with the storage use of a catalog: private, shared, by fork and by table."""

from __future__ import annotations

from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.contents import grouped
from forklake.crucible.pages.frames import framed
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import router
from forklake.crucible.pages.visitors import Looking

routes = router()
_FORKS = 20  # number of forks that are compared with the catalog


@routes.get("/catalogs/{catalog}/storage")
def storage(request: Request, visitor: Looking, catalog: str) -> Response:
    """Return the page with the bytes of a catalog, of its first forks, and of its tables."""
    frame = framed(visitor, catalog, "storage")
    metastore = visitor.access.metastore
    compared = islice(visitor.access.visible.forks(visitor.caller, frame.catalog.row), _FORKS)
    own, *forks = metastore.storage([frame.name, *(row.catalog_name for row in compared)])
    tables = [
        (group.name, table)
        for group in grouped(frame.catalog.now())
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
