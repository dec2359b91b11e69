"""Installation of the pages in an application."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages import (
    about,
    administration,
    assets,
    catalog_dialogs,
    catalogs,
    contents,
    forks,
    history,
    sessions,
    sign_in,
    sql,
    storage,
    tables,
    upkeep,
)
from forklake.crucible.pages.rendering import render_error
from forklake.crucible.pages.visitors import SignIns
from forklake.errors import NotFound

PAGES = (
    about,
    administration,
    catalogs,
    catalog_dialogs,
    contents,
    forks,
    history,
    sessions,
    sign_in,
    sql,
    storage,
    tables,
    upkeep,
)


def install(app: FastAPI) -> None:
    """Add all pages. Call it after the error handlers were registered."""
    app.state.sign_ins = SignIns()
    app.state.editor_sessions = sql.EditorSessions()
    app.include_router(assets.routes)
    for module in PAGES:
        app.include_router(module.routes)
    otherwise = app.exception_handlers[HTTPException]

    async def on_http(request: Request, error: Exception) -> Response:
        """Return an HTML page for a URL that does not exist, if a browser requested it."""
        assert isinstance(error, HTTPException)
        if error.status_code == 404 and _wants_html(request):
            missing = NotFound("The page does not exist.", remedy="Start at the list of catalogs.")
            return render_error(request, missing)
        response: Response = await otherwise(request, error)  # type: ignore[misc]
        return response

    app.add_exception_handler(HTTPException, on_http)


def _wants_html(request: Request) -> bool:
    is_api = request.url.path.startswith("/v1/")
    return not is_api and "text/html" in request.headers.get("accept", "")
