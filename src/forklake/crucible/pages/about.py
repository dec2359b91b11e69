"""Pages about the service: its health, and the audit log."""

from __future__ import annotations

import platform
from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.pages.rendering import render
from forklake.crucible.pages.routing import create_router
from forklake.crucible.pages.visitors import CurrentVisitor
from forklake.errors import Unavailable

routes = create_router()
_PAGE = 100
_PARTS = ("forklake", "pyspark", "pyarrow", "duckdb", "fastapi")


@routes.get("/service")
def show_service(request: Request, visitor: CurrentVisitor) -> Response:
    """Return the page with versions, health and limits of the service."""
    found = service_of(request)
    names = found.stamps.names
    is_ready = True
    try:
        found.check_ready()
    except Unavailable:
        is_ready = False
    return render(
        request,
        "service.html",
        service=found,
        is_ready=is_ready,
        stamps=[(name, found.stamps.metastore(name).database.address) for name in names],
        versions=[(name, version(name)) for name in _PARTS],
        python=platform.python_version(),
    )


@routes.get("/audit")
def show_audit_log(
    request: Request,
    visitor: CurrentVisitor,
    catalog: str = "",
    after: str = "",
) -> Response:
    """Return the audit log: of all catalogs for a root, of one catalog for its administrators."""
    rows = visitor.access.audit.list(
        visitor.caller, catalog=catalog or None, after=after or None, limit=_PAGE + 1
    )
    return render(
        request,
        "audit.html",
        rows=rows[:_PAGE],
        catalog=catalog,
        following=rows[_PAGE - 1].audit_id if len(rows) > _PAGE else None,
    )
