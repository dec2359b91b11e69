"""Rate limit on invalid credentials."""

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

_IPV6_PREFIX = 64  # a client usually controls a whole network of this size


class Refusals:
    """Rate limit on invalid credentials, by address and by the key id in the credential.

    Recently valid credentials are exempt: otherwise a client that sends wrong credentials from the
    same address, or with the id of the same key, could lock out the owner of the key.
    """

    def __init__(self, per_minute: int) -> None:
        self._limit = RateLimit(per_minute)
        self._guard = threading.Lock()
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def check(self, credential: str, address: str) -> None:
        """Raise RateLimited if the address or the key has exceeded its limit."""
        if _digest(credential) in self._good:
            return
        wait = max(self._limit.wait(key) for key in _limited_keys(credential, address))
        if wait:
            raise RateLimited(
                "Too many invalid credentials were sent.",
                remedy="Check the API key or token, and try again later.",
                retry_after=math.ceil(wait),
            )

    def refuse(self, credential: str, address: str) -> None:
        """Count an invalid credential."""
        with self._guard:
            self._good.pop(_digest(credential), None)
        for key in _limited_keys(credential, address):
            self._limit.spend(key)

    def accept(self, credential: str) -> None:
        """Exempt a valid credential from the limit."""
        with self._guard:
            self._good[_digest(credential)] = None
            self._good.move_to_end(_digest(credential))
            while len(self._good) > MOST_KEYS:
                self._good.popitem(last=False)


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()


def _limited_keys(credential: str, address: str) -> list[Hashable]:
    subject = subject_of(credential)
    return [("address", _network(address)), *([("key", subject)] if subject else [])]


def _network(address: str) -> str:
    found = parse_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_PREFIX), strict=False))
    return str(found) if found else address
