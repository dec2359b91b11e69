"""Who asks: from the header of a request to the caller that access rules know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Request

from forklake.access.access import Access
from forklake.access.callers import LOCAL, Caller
from forklake.catalog.catalog import Catalog
from forklake.crucible.proxies import client_address, is_forwarded
from forklake.crucible.service import Service
from forklake.crucible.settings import is_loopback
from forklake.errors import Forbidden, Unauthenticated

_SCHEME = "bearer"


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


def credential_of(request: Request) -> str:
    """The credential in the header, empty if there is none. Nowhere else is it looked for."""
    header = request.headers.get("authorization", "")
    if not header:
        return ""
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != _SCHEME or not credential.strip():
        raise Unauthenticated(
            "The header Authorization cannot be read.",
            remedy="Send: Authorization: Bearer <API key or token>.",
        )
    return credential.strip()


async def current(request: Request) -> Caller:
    """The caller; only a credential that was not seen of late costs a look at the metastore."""
    service, credential = service_of(request), credential_of(request)
    caller = service.known_caller(credential)
    if caller is None:
        address = client_address(request.scope)
        caller = await to_thread.run_sync(service.caller, credential, address)
    require_own_host(request, caller)
    request.state.principal = caller.name
    return caller


def require_own_host(request: Request, caller: Caller) -> None:
    """Raise Forbidden if a service without rules was called from elsewhere.

    Any site can make its name lead here, and its pages would then pass for ours; any page can make
    a browser send something; and a proxy passes on what comes from other machines.
    """
    if caller is not LOCAL:
        return
    name, origin = request.url.hostname or "", request.headers.get("origin")
    is_foreign = origin is not None and origin.partition("://")[2] != request.headers.get("host")
    client, proxies = client_address(request.scope), service_of(request).proxies
    is_remote = is_forwarded(request.scope) and (not proxies or not is_loopback(client))
    if is_foreign or is_remote or not is_loopback(name):
        raise Forbidden(
            "This service has no access rules: it answers to this machine only.",
            remedy="Call it localhost or 127.0.0.1, or give it access rules.",
        )


@dataclass(frozen=True, slots=True)
class Visit:
    """A request as routes see it: who asks, and the rules that hold for them."""

    service: Service
    caller: Caller
    access: Access

    def catalog(self, name: str, operation: str) -> Catalog:
        """The catalog of a name, if the caller may do this to it."""
        return self.access.catalog(self.caller, name, operation)

    def access_to(self, principal: str) -> Access:
        """The rules beside the catalogs of a principal, whom a root asks about; whoever else asks
        is told what they may know by their own."""
        if not self.caller.is_free:
            return self.access
        return self.service.stamps.access_for(self.access.principal(principal).account)


async def _visit(request: Request) -> Visit:
    service, caller = service_of(request), await current(request)
    return Visit(service, caller, service.access_of(caller))


Asking = Annotated[Visit, Depends(_visit)]
