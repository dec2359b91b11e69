"""Rendering: templates to answers, with the headers that keep a page to itself."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from forklake import errors
from forklake.crucible.pages.assets import asset
from forklake.crucible.pages.formatting import FILTERS, link
from forklake.crucible.problems import headers_of
from forklake.errors import ForklakeError

# A page loads from this service alone, runs no script and no style but files, and is in no frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}

POLLING = "result"  # the id of the part that asks again


@cache
def environment() -> Environment:
    """The templates; all that is put into them is escaped."""
    found = Environment(
        loader=PackageLoader("forklake.crucible.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(FILTERS)
    found.globals.update(link=link, asset=asset)
    return found


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page; who looks at it is known from the request."""
    visitor = getattr(request.state, "visitor", None)
    text = environment().get_template(template).render(visitor=visitor, request=request, **values)
    return HTMLResponse(text, status, HEADERS)


def render_error(request: Request, error: ForklakeError) -> Response:
    """The page of an error: what was wrong and what to do."""
    status, _ = errors.outcome(error)
    response = render(
        request, "error.html", status=status, error=error, phrase=HTTPStatus(status).phrase
    )
    response.headers.update(headers_of(error))
    return response


def is_part(request: Request) -> bool:
    """Whether htmx asks, to put a part of the page into another."""
    return request.headers.get("HX-Request") == "true"


def is_poll(request: Request) -> bool:
    """Whether a part of a page asks again for itself: until there is news, nothing is news."""
    return request.headers.get("HX-Trigger") == POLLING


def nothing_new() -> Response:
    """Leave the part as it is."""
    return Response(status_code=204)


def go(request: Request, address: str) -> Response:
    """Send the visitor on to another page."""
    if is_part(request):
        return Response(status_code=200, headers={"HX-Redirect": address})
    return RedirectResponse(address, status_code=303)
