"""Signing in with an API key or a token, and out again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.crucible.callers import service_of
from forklake.crucible.pages.rendering import go, render
from forklake.crucible.pages.routing import SIGN_IN, router
from forklake.crucible.pages.visitors import cookie_of, require_token, sign_ins_of
from forklake.crucible.problems import headers_of
from forklake.crucible.proxies import client_address
from forklake.errors import ForklakeError, RateLimited, Unauthenticated, outcome

routes = router()


@routes.get(f"/{SIGN_IN}")
def ask(request: Request, next: str = "/") -> Response:
    """The page to sign in on."""
    return _page(request, next)


def _page(request: Request, next: str, error: ForklakeError | None = None) -> Response:
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
    """Take a credential for a cookie; a new one, so that nobody can have known it before."""
    try:
        if not credential.strip():
            raise Unauthenticated("The key is empty.", remedy="Paste your API key.")
        service_of(request).caller(credential.strip(), client_address(request.scope))
    except (Unauthenticated, RateLimited) as error:
        return _page(request, next, error)
    request.state.cookie = sign_ins_of(request).add(credential.strip())
    return go(request, _own(next))


def _own(address: str) -> str:
    """An address on this service: anything else leads to the first page."""
    is_own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_own and address.isprintable() else "/"


@routes.post("/sign-out", dependencies=[Depends(require_token)])
def sign_out(request: Request) -> Response:
    """Forget the visitor."""
    sign_ins_of(request).remove(cookie_of(request))
    return go(request, f"/{SIGN_IN}")
