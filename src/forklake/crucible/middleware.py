"""ASGI middleware around all routes: request ids, limits, security headers, logging and metrics.

A request gets an id and limits on its body size and duration. A response gets the id and the
security headers. Each request is logged in one line and counted in two metrics.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from typing import Any
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forklake.crucible import problems
from forklake.crucible.logs import log_event
from forklake.crucible.proxies import client_address
from forklake.crucible.service import Service

_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Replaces an encoded slash within a name, which would otherwise split the path. It is a private-use
# character, which names cannot contain, and is replaced again before a name is used.
SLASH = "\ue000"
_SLASH = re.compile("%2f", re.IGNORECASE)
# Pages set their own Content-Security-Policy; other responses are not meant for browsers.
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

_ONLY_TLS = (b"strict-transport-security", b"max-age=31536000")


class RequestMiddleware:
    """Middleware that every request passes through."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._service.proxies.resolve(scope)
        exchange = _Exchange(self._service, scope, receive, send)
        self._service.metrics.under_way.inc()
        try:
            await exchange.run(self._app)
        finally:
            self._service.metrics.under_way.dec()


class _Exchange:
    """State of one request within the middleware."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        self._service = service
        self._scope = scope
        self._receive = receive
        self._send = send
        self._began = time.perf_counter()
        self._request_id = _request_id(scope)
        self._status = 0  # 0 until the response starts
        self._is_over = False  # True if the request timed out and 504 was sent
        self._received = 0
        self._is_received = False  # True when the whole body was received
        scope.setdefault("state", {})["request_id"] = self._request_id
        raw = scope.get("raw_path", b"")
        if b"%2" in raw:
            scope["path"] = unquote(_SLASH.sub(SLASH, raw.decode("latin-1")))

    async def run(self, app: ASGIApp) -> None:
        loop = asyncio.get_running_loop()
        limit = self._service.settings.request_seconds
        timer = loop.call_later(limit, lambda: asyncio.ensure_future(self._respond_timeout()))
        try:
            if _declared_length(self._scope) > self._service.settings.body_bytes:
                await self._refuse(413)
            else:
                await app(self._scope, self.receive, self.send)
        except Exception:  # noqa: BLE001 - the client gets a response for any error
            log_event("failed", level=logging.ERROR, failed=True, request_id=self._request_id)
            if not self._status:
                await self._refuse(500)
        finally:
            timer.cancel()
        if not self._is_over:
            self._log_request()

    async def receive(self) -> Message:
        message = await self._next_message()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._service.settings.body_bytes:
                raise HTTPException(413)
        return message

    async def _next_message(self) -> Message:
        """Return the next message of the body. Raise HTTPException 408 if it arrives too late."""
        if self._is_received:
            return await self._receive()
        try:
            seconds = self._service.settings.body_seconds
            message = await asyncio.wait_for(self._receive(), seconds)
        except TimeoutError:
            raise HTTPException(408, headers={"Connection": "close"}) from None
        self._is_received = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if not self._is_over:
            await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = message.setdefault("headers", [])
            own = {name for name, _ in headers}
            headers += [pair for pair in HEADERS if pair[0] not in own]
            if self._scope.get("scheme") == "https":
                headers.append(_ONLY_TLS)
            headers.append((b"x-request-id", self._request_id.encode()))
        await self._send(message)

    async def _respond_timeout(self) -> None:
        """Respond 504 unless a response has started. The route keeps running."""
        if self._status:
            return
        self._is_over = True  # from here on, messages of the route are discarded
        await self._refuse(504)
        self._log_request()

    async def _refuse(self, status: int) -> None:
        await problems.http_error_response(status, self._request_id)(
            self._scope, self._receive, self._pass_on
        )

    def _log_request(self) -> None:
        """Log the request and update its metrics."""
        seconds = time.perf_counter() - self._began
        method = str(self._scope["method"])
        route = getattr(self._scope.get("route"), "path", "none")
        metrics = self._service.metrics
        metrics.requests.labels(method, route, self._status).inc()
        metrics.seconds.labels(method, route).observe(seconds)
        facts: dict[str, Any] = {
            "request_id": self._request_id,
            "principal": self._scope["state"].get("principal"),
            "address": client_address(self._scope),
            "method": method,
            "route": route,
            "status": self._status,
            "ms": round(1e3 * seconds, 2),
        }
        level = logging.WARNING if self._status >= 500 else logging.INFO
        log_event("request", level=level, **facts)


def _request_id(scope: Scope) -> str:
    """Return the client's request id if it is well-formed, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return str(value.decode())
    return uuid.uuid4().hex


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
