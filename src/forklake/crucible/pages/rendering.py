"""Rendering of templates to responses with security headers."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from forklake import errors
from forklake.crucible.pages.assets import asset_url
from forklake.crucible.pages.formatting import FILTERS, link
from forklake.crucible.problems import headers_of
from forklake.errors import ForklakeError

# Pages load only files of this service, run no inline scripts or styles, and cannot be framed.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}

POLLING = "result"  # id of the element that polls


@cache
def template_environment() -> Environment:
    """Return the template environment, which escapes all values."""
    found = Environment(
        loader=PackageLoader("forklake.crucible.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(FILTERS)
    found.globals.update(link=link, asset=asset_url)
    return found


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a rendered page. The visitor is taken from the request."""
    visitor = getattr(request.state, "visitor", None)
    text = (
        template_environment()
        .get_template(template)
        .render(visitor=visitor, request=request, **values)
    )
    return HTMLResponse(text, status, HEADERS)


def render_error(request: Request, error: ForklakeError) -> Response:
    """Return the error page with the message and the remedy."""
    status, _ = errors.outcome(error)
    response = render(
        request, "error.html", status=status, error=error, phrase=HTTPStatus(status).phrase
    )
    response.headers.update(headers_of(error))
    return response


def is_part(request: Request) -> bool:
    """Return whether htmx sent the request, to insert a part of the page into another."""
    return request.headers.get("HX-Request") == "true"


def is_poll(request: Request) -> bool:
    """Return whether an element polls for its own update, and 204 is a valid response."""
    return request.headers.get("HX-Trigger") == POLLING


def no_change_response() -> Response:
    """Return a response that makes htmx leave the page as it is."""
    return Response(status_code=204)


def redirect(request: Request, address: str) -> Response:
    """Redirect the visitor to another page."""
    if is_part(request):
        return Response(status_code=200, headers={"HX-Redirect": address})
    return RedirectResponse(address, status_code=303)
