"""Client addresses and URL schemes of requests, as reported by trusted proxies.

Any client can send `X-Forwarded-For` and `X-Forwarded-Proto`. They are trusted only in requests
from a proxy that is listed in the settings.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from starlette.types import Scope

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse_address(text: str) -> _Address | None:
    """Return the address in a text such as `192.0.2.1`, `192.0.2.1:80` or `[2001:db8::1]:80`."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


class Proxies:
    """Trusted proxies of a service."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(one, strict=False) for one in networks]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def is_trusted(self, address: str) -> bool:
        """Return whether an address belongs to a trusted proxy."""
        found = parse_address(address)
        return found is not None and self._contains(found)

    def _contains(self, address: _Address) -> bool:
        return any(address in network for network in self._networks)

    def resolve(self, scope: Scope) -> None:
        """Replace the proxy's address and scheme in a request by those of the client."""
        client = scope.get("client")
        if not self._networks or client is None or not self.is_trusted(client[0]):
            return
        scope["client"] = (
            self._find_client(client[0], _header_values(scope, b"x-forwarded-for")),
            0,
        )
        schemes = _header_values(scope, b"x-forwarded-proto")
        if schemes and schemes[-1].lower() in {"http", "https"}:
            scope["scheme"] = schemes[-1].lower()

    def _find_client(self, peer: str, reported: Iterable[str]) -> str:
        """Return the address that connected to the outermost trusted proxy.

        Entries to the left of it were sent by the client, who can forge them.
        """
        found = peer
        for text in reversed(list(reported)):
            address = parse_address(text)
            if address is None:
                break
            found = str(address)
            if not self._contains(address):
                break
        return found


def is_forwarded(scope: Scope) -> bool:
    """Return whether a request was forwarded by a proxy, trusted or not."""
    return any(name in {b"x-forwarded-for", b"forwarded"} for name, _ in scope["headers"])


def client_address(scope: Scope) -> str:
    """Return the address of the client, or an empty string if it has none."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _header_values(scope: Scope, header: bytes) -> list[str]:
    texts = [value.decode("latin-1") for name, value in scope["headers"] if name == header]
    return [one.strip() for text in texts for one in text.split(",") if one.strip()]
