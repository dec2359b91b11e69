"""HTTP connections of the web server, with limits on their number and on the time per request.

Without limits, a client that sends half a request, or does not read its response, would occupy a
connection and its resources forever.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from forklake.crucible.logs import log_event
from forklake.crucible.proxies import Proxies, parse_address

_HEAD_BYTES = 64 * 2**10
_REFUSAL = (
    b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: 0\r\nretry-after: 1\r\n"
    b"x-content-type-options: nosniff\r\n\r\n"
)


@dataclass(slots=True)
class ConnectionLimits:
    """Limits shared by all connections of a server, and the number of connections by address."""

    connections: int
    per_address: int
    head_seconds: float
    write_seconds: float
    proxies: Proxies
    open_by_address: Counter[str] = field(default_factory=Counter)

    def allows(self, address: str, open_now: int) -> bool:
        """Return whether one more connection from an address is allowed."""
        if open_now > self.connections:
            return False
        return self._is_shared(address) or self.open_by_address[address] <= self.per_address

    def _is_shared(self, address: str) -> bool:
        """Return whether many clients may share the address: a proxy, or this machine."""
        found = parse_address(address)
        return found is None or found.is_loopback or self.proxies.is_trusted(address)


class BoundedHttp(HttpToolsProtocol):
    """HTTP connection that enforces `ConnectionLimits`."""

    def __init__(self, *, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._address = ""
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._is_in_body = False
        self._heads = 0  # number of complete request heads
        self._head_bytes = 0  # size of the incomplete one

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._limits.open_by_address[self._address] += 1
        if self._limits.allows(self._address, len(self.connections)):
            self._await_head()
        else:
            log_event("connection refused", level=logging.WARNING, address=self._address)
            self._refuse(b"503 Service Unavailable")

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.open_by_address[self._address] -= 1
        if self._limits.open_by_address[self._address] <= 0:
            del self._limits.open_by_address[self._address]
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        is_head, heads = not self._is_in_body, self._heads
        super().data_received(data)
        if is_head and heads == self._heads:
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large")

    def on_headers_complete(self) -> None:
        self._stop_head_timer()
        self._heads += 1
        self._head_bytes = 0
        self._is_in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_in_body = False
        if self.cycle.response_complete:  # the response was sent before the body had arrived
            self._await_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._await_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(
                self._limits.write_seconds, self.transport.abort
            )

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def _await_head(self) -> None:
        """Close the connection unless a complete request head arrives in time.

        Arriving bytes do not extend the time: neither those of a head, nor the rest of a body whose
        response was sent before its end.
        """
        self._stop_head_timer()
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._close)

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        self._stop_head_timer()
        if self.cycle is None or self.cycle.response_complete:  # not in the middle of a response
            self.transport.write(_REFUSAL % status)
        self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
