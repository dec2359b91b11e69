"""Authentication of requests: from the Authorization header to a Caller and its access rules."""

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
    """Return the service that handles a request."""
    service: Service = request.app.state.service
    return service


def read_credential(request: Request) -> str:
    """Return the credential in the Authorization header, or an empty string without the header.

    Credentials are not read from any other part of a request.
    """
    header = request.headers.get("authorization", "")
    if not header:
        return ""
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != _SCHEME or not credential.strip():
        raise Unauthenticated(
            "The Authorization header is malformed.",
            remedy="Send: Authorization: Bearer <API key or token>.",
        )
    return credential.strip()


async def authenticate(request: Request) -> Caller:
    """Return the caller. The metastore is queried only if the credential is not cached."""
    service, credential = service_of(request), read_credential(request)
    caller = service.known_caller(credential)
    if caller is None:
        address = client_address(request.scope)
        caller = await to_thread.run_sync(service.caller, credential, address)
    require_own_host(request, caller)
    request.state.principal = caller.name
    return caller


def require_own_host(request: Request, caller: Caller) -> None:
    """Raise Forbidden if a service without access rules is called from another machine.

    Three traps: any site can point its domain name at this address (DNS rebinding), so that its
    pages pass for ours; any page can make a browser send requests; and a proxy forwards requests
    of other machines.
    """
    if caller is not LOCAL:
        return
    name, origin = request.url.hostname or "", request.headers.get("origin")
    is_foreign = origin is not None and origin.partition("://")[2] != request.headers.get("host")
    client, proxies = client_address(request.scope), service_of(request).proxies
    is_remote = is_forwarded(request.scope) and (not proxies or not is_loopback(client))
    if is_foreign or is_remote or not is_loopback(name):
        raise Forbidden(
            "This service has no access rules, so it accepts requests from this machine only.",
            remedy="Use the host name localhost or 127.0.0.1, or set up access rules:"
            " forklake access init.",
        )


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Request context of a route: the service, the caller, and the access rules that apply."""

    service: Service
    caller: Caller
    access: Access

    def catalog(self, name: str, operation: str) -> Catalog:
        """Return a catalog by name. Raise NotFound or Forbidden if the operation is not allowed."""
        return self.access.authorization.catalog(self.caller, name, operation)

    def access_to(self, principal: str) -> Access:
        """Return the access rules of the stamp that holds a principal's grants and quota.

        Only a root can look at other stamps; for other callers, return their own rules, which
        decide what they can see.
        """
        if not self.caller.is_free:
            return self.access
        return self.service.stamps.access_for(self.access.principals.find(principal).account)


async def _build_context(request: Request) -> RequestContext:
    service, caller = service_of(request), await authenticate(request)
    return RequestContext(service, caller, service.access_of(caller))


Context = Annotated[RequestContext, Depends(_build_context)]
