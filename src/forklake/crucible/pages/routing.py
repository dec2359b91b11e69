"""Router of all pages: errors are rendered as pages, and unknown visitors are sent to sign in."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.pages.formatting import link
from forklake.crucible.pages.rendering import redirect, render_error
from forklake.crucible.pages.visitors import cookie_of, put_cookie
from forklake.crucible.problems import to_invalid_input
from forklake.errors import ForklakeError, Unauthenticated

SIGN_IN = "sign-in"


class PageRoute(APIRoute):
    """Route that renders errors as pages and gives each visitor a cookie."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, wrapped with cookies and error pages."""
        handle = super().get_route_handler()

        async def handle_with_cookie(request: Request) -> Response:
            cookie_of(request)
            try:
                response = await handle(request)
            except Unauthenticated:
                response = redirect(request, _sign_in_url(request))
            except ForklakeError as error:
                response = await to_thread.run_sync(render_error, request, error)
            except RequestValidationError as error:
                response = render_error(request, to_invalid_input(error))
            put_cookie(request, response)
            return response

        return handle_with_cookie


def _sign_in_url(request: Request) -> str:
    """Return the URL of the sign-in page, which leads back to the requested page."""
    target = request.url.path
    if request.url.query:
        target += f"?{request.url.query}"
    return link(SIGN_IN, next=target if request.method == "GET" and target != "/" else None)


def create_router() -> APIRouter:
    """Return a router for pages."""
    return APIRouter(route_class=PageRoute, include_in_schema=False)
