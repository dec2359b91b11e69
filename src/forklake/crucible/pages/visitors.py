"""Visitors of pages, identified by a cookie, and protection of forms against other sites.

The cookie is a random number. The credential that it stands for stays in this process and is
checked with every request, so that a revoked key or grant takes effect immediately. The CSRF token
in forms is derived from the cookie, and so unknown to other sites. A service without access rules
needs the token too, since any site can make the browser send forms to it.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Form
from starlette.requests import Request
from starlette.responses import Response

from forklake.access.callers import LOCAL, Caller
from forklake.crucible.callers import require_own_host, service_of
from forklake.crucible.proxies import client_address
from forklake.errors import Forbidden

if TYPE_CHECKING:
    from forklake.access.access import Access

COOKIE = "forklake"
_SECONDS = 12 * 3600.0
_MOST = 10_000  # sign-ins; the oldest are evicted first
_MOST_OF_ONE = 50  # with the same credential, so that one visitor cannot evict all others


class SignIns:
    """Credentials of signed-in visitors by cookie."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._guard = threading.Lock()
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def add(self, credential: str) -> str:
        """Store a credential and return a new cookie for it."""
        cookie = secrets.token_urlsafe(32)
        with self._guard:
            own = [one for one, (known, _) in self._known.items() if known == credential]
            for oldest in own[: max(0, len(own) + 1 - _MOST_OF_ONE)]:
                del self._known[oldest]
            self._known[cookie] = (credential, time.monotonic() + _SECONDS)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return cookie

    def find(self, cookie: str) -> str | None:
        """Return the credential for a cookie, or None if there is none or it has expired."""
        with self._guard:
            credential, until = self._known.get(cookie, ("", 0.0))
            if time.monotonic() < until:
                return credential
            self._known.pop(cookie, None)
        return None

    def remove(self, cookie: str) -> None:
        """Delete the credential for a cookie."""
        with self._guard:
            self._known.pop(cookie, None)

    def token(self, cookie: str) -> str:
        """Return the CSRF token of a cookie, which forms must contain."""
        return hmac.digest(self._secret, cookie.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Caller who requests a page, with access rules and the CSRF token of their forms."""

    caller: Caller
    access: Access
    token: str

    @property
    def is_local(self) -> bool:
        """Whether the service has no access rules, so that every caller can do everything."""
        return self.caller is LOCAL


def sign_ins_of(request: Request) -> SignIns:
    """Return the sign-ins of the service."""
    found: SignIns = request.app.state.sign_ins
    return found


def cookie_of(request: Request) -> str:
    """Return the visitor's cookie. A new visitor gets a new one, which the response sets."""
    known = getattr(request.state, "cookie", None) or request.cookies.get(COOKIE)
    request.state.cookie = known or secrets.token_urlsafe(32)
    return str(request.state.cookie)


def put_cookie(request: Request, response: Response) -> None:
    """Set the cookie of the request in the response, if it is new."""
    cookie = getattr(request.state, "cookie", None)
    if cookie and cookie != request.cookies.get(COOKIE):
        is_secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=is_secure)


def find_visitor(request: Request) -> Visitor:
    """Return the visitor of a page, or raise Unauthenticated."""
    service, cookie = service_of(request), cookie_of(request)
    credential = sign_ins_of(request).find(cookie) or ""
    caller = service.known_caller(credential) or service.caller(
        credential, client_address(request.scope)
    )
    require_own_host(request, caller)
    request.state.principal = caller.name
    visitor = Visitor(caller, service.access_of(caller), sign_ins_of(request).token(cookie))
    request.state.visitor = visitor
    return visitor


def require_token(request: Request, csrf: Annotated[str, Form()] = "") -> None:
    """Raise Forbidden if a form was not sent from a page of this service."""
    token = sign_ins_of(request).token(cookie_of(request))
    if not hmac.compare_digest(token.encode(), csrf.encode()):
        raise Forbidden(
            "The form was not sent from a page of this visit.",
            remedy="Reload the page and send the form again.",
        )


def find_form_visitor(request: Request, _: Annotated[None, Depends(require_token)]) -> Visitor:
    """Return the visitor who sent a form, after its CSRF token was checked."""
    return find_visitor(request)


CurrentVisitor = Annotated[Visitor, Depends(find_visitor)]
FormVisitor = Annotated[Visitor, Depends(find_form_visitor)]
