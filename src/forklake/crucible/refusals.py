"""The limit on credentials that are refused."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Hashable

from forklake.access.credentials import subject_of
from forklake.access.rate_limits import MOST_KEYS, RateLimit
from forklake.crucible.proxies import parse_address
from forklake.errors import RateLimited

_IPV6_PREFIX = 64  # one client can have all addresses of such a network


class Refusals:
    """Limits how many credentials are refused, by address and by the key that they name.

    A credential that was good a while ago is always looked at: a caller who tries wrong ones from
    the same address, or with the id of the same key, does not lock its holder out.
    """

    def __init__(self, per_minute: int) -> None:
        self._limit = RateLimit(per_minute)
        self._guard = threading.Lock()
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def check(self, credential: str, address: str) -> None:
        """Raise RateLimited if credentials of the address or of the key are not looked at now."""
        if _digest(credential) in self._good:
            return
        wait = max(self._limit.wait(key) for key in _keys(credential, address))
        if wait:
            raise RateLimited(
                "Too many credentials were refused.",
                remedy="Check the API key or token, and try again later.",
                retry_after=math.ceil(wait),
            )

    def refuse(self, credential: str, address: str) -> None:
        """Count a credential that was refused."""
        with self._guard:
            self._good.pop(_digest(credential), None)
        for key in _keys(credential, address):
            self._limit.spend(key)

    def accept(self, credential: str) -> None:
        """Remember a credential that is good."""
        with self._guard:
            self._good[_digest(credential)] = None
            self._good.move_to_end(_digest(credential))
            while len(self._good) > MOST_KEYS:
                self._good.popitem(last=False)


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()


def _keys(credential: str, address: str) -> list[Hashable]:
    subject = subject_of(credential)
    return [("address", _network(address)), *([("key", subject)] if subject else [])]


def _network(address: str) -> str:
    found = parse_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_PREFIX), strict=False))
    return str(found) if found else address
