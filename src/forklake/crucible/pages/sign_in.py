"""Pages to sign in with an API key or a token, and to sign out."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.pages.rendering import redirect, render
from forklake.crucible.pages.routing import SIGN_IN, create_router
from forklake.crucible.pages.visitors import cookie_of, require_token, sign_ins_of
from forklake.crucible.problems import headers_of
from forklake.crucible.proxies import client_address
from forklake.errors import ForklakeError, RateLimited, Unauthenticated, outcome

routes = create_router()


@routes.get(f"/{SIGN_IN}")
def show_sign_in(request: Request, next: str = "/") -> Response:
    """Return the sign-in page."""
    return _render_sign_in(request, next)


def _render_sign_in(request: Request, next: str, error: ForklakeError | None = None) -> Response:
    token = sign_ins_of(request).token(cookie_of(request))
    status = outcome(error)[0] if error else 200
    response = render(request, "sign-in.html", status=status, next=next, error=error, token=token)
    if error:
        response.headers.update(headers_of(error))
    return response


@routes.post(f"/{SIGN_IN}", dependencies=[Depends(require_token)])
def sign_in(
    request: Request, credential: Annotated[str, Form()], next: Annotated[str, Form()] = "/"
) -> Response:
    """Check a credential and store it under a new cookie, then redirect to the page `next`.

    The cookie must be new: an attacker may have set the old one (session fixation).
    """
    try:
        if not credential.strip():
            raise Unauthenticated("The credential is empty.", remedy="Enter an API key or a token.")
        service_of(request).caller(credential.strip(), client_address(request.scope))
    except (Unauthenticated, RateLimited) as error:
        return _render_sign_in(request, next, error)
    request.state.cookie = sign_ins_of(request).add(credential.strip())
    return redirect(request, _local_path(next))


def _local_path(address: str) -> str:
    """Return an address if it is a path on this service, else the start page."""
    is_own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_own and address.isprintable() else "/"


@routes.post("/sign-out", dependencies=[Depends(require_token)])
def sign_out(request: Request) -> Response:
    """Delete the visitor's credential and redirect to the sign-in page."""
    sign_ins_of(request).remove(cookie_of(request))
    return redirect(request, f"/{SIGN_IN}")
