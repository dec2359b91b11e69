"""Visitors: who looks at a page, by a cookie; and that what they send came from a page of ours.

The cookie is a random number without meaning. What it stands for, the credential that somebody
signed in with, stays in this process, and is looked at anew with every request: a revoked key or
grant bites at once. The token in forms is made from the cookie, so that other sites cannot know it;
a service without access rules needs it as well, since any site could send it forms.
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
_MOST = 10_000  # the oldest sign-ins go first
_MOST_OF_ONE = 50  # with the same credential, so that one visitor does not sign out the others


class SignIns:
    """The credentials of those who have signed in, by their cookies."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._guard = threading.Lock()
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def add(self, credential: str) -> str:
        """Remember a credential; the cookie that stands for it."""
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
        """The credential that a cookie stands for."""
        with self._guard:
            credential, until = self._known.get(cookie, ("", 0.0))
            if time.monotonic() < until:
                return credential
            self._known.pop(cookie, None)
        return None

    def remove(self, cookie: str) -> None:
        """Forget a credential."""
        with self._guard:
            self._known.pop(cookie, None)

    def token(self, cookie: str) -> str:
        """What forms carry to show that they are ours."""
        return hmac.digest(self._secret, cookie.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at a page, what they may do, and the token of their forms."""

    caller: Caller
    access: Access
    token: str

    @property
    def is_local(self) -> bool:
        """Whether the service knows no principals: whoever reaches it may do everything."""
        return self.caller is LOCAL


def sign_ins_of(request: Request) -> SignIns:
    """The sign-ins of the service."""
    found: SignIns = request.app.state.sign_ins
    return found


def cookie_of(request: Request) -> str:
    """The visitor's cookie; one that has none is given one with the answer."""
    known = getattr(request.state, "cookie", None) or request.cookies.get(COOKIE)
    request.state.cookie = known or secrets.token_urlsafe(32)
    return str(request.state.cookie)


def put_cookie(request: Request, response: Response) -> None:
    """Give the visitor the cookie of the request, if it is a new one."""
    cookie = getattr(request.state, "cookie", None)
    if cookie and cookie != request.cookies.get(COOKIE):
        is_secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=is_secure)


def current(request: Request) -> Visitor:
    """Who looks at the page, or Unauthenticated."""
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
    """Refuse what no page of ours has sent."""
    token = sign_ins_of(request).token(cookie_of(request))
    if not hmac.compare_digest(token.encode(), csrf.encode()):
        raise Forbidden(
            "The form is not from a page of this visit.",
            remedy="Load the page again and send it once more.",
        )


def sending(request: Request, _: Annotated[None, Depends(require_token)]) -> Visitor:
    """Who sends a form, once it is known to be ours."""
    return current(request)


Looking = Annotated[Visitor, Depends(current)]
Sending = Annotated[Visitor, Depends(sending)]
