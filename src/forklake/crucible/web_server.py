"""Web server that runs the application until it is stopped.

On SIGTERM or Ctrl-C it stops accepting connections, finishes running requests, and closes the
sessions.
"""

from __future__ import annotations

import logging
import socket
import sys
from functools import partial

import uvicorn

from forklake.crucible import logs
from forklake.crucible.app import create_app
from forklake.crucible.connections import BoundedHttp, ConnectionLimits
from forklake.crucible.proxies import Proxies
from forklake.crucible.service import Service
from forklake.crucible.settings import Settings
from forklake.errors import InvalidInput

_TURN_SECONDS = 0.001


def serve(settings: Settings) -> None:
    """Serve until the process is stopped."""
    logs.configure_logging(settings.log_level)
    # Shorter time slices: a thread that computes a response must not delay the event loop.
    sys.setswitchinterval(_TURN_SECONDS)
    app = create_app(settings)
    service: Service = app.state.service
    try:
        require_access_rules(service)
        service.access.signing_keys.check()
        listener = _open_socket(settings)
        host, port = listener.getsockname()[:2]
        logs.log_event("serving", address=f"http://{host}:{port}")
        create_server(app, settings).run([listener])
    finally:
        service.close()


def require_access_rules(service: Service) -> None:
    """Raise InvalidInput if a service without access rules would be reachable from elsewhere."""
    settings = service.settings
    if not settings.is_loopback and service.access.principals.is_empty():
        raise InvalidInput(
            f"The service cannot listen on {settings.host} without access rules.",
            remedy="Create a root principal first: forklake access init, then"
            " forklake access principal add <name> --root. Or listen on 127.0.0.1.",
        )


def _open_socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as reason:
        raise InvalidInput(
            f"The service cannot listen on {settings.host}, port {settings.port}:"
            f" {reason.strerror or reason}.",
            remedy="Choose another address or port.",
        ) from None


def create_server(app: object, settings: Settings) -> uvicorn.Server:
    """Return the configured web server."""
    # Its access log would contain whole URLs; the middleware logs requests instead.
    logging.getLogger("uvicorn.access").disabled = True
    limits = ConnectionLimits(
        settings.connections,
        settings.connections_per_address,
        settings.head_seconds,
        settings.request_seconds,
        Proxies(settings.trusted_proxies),
    )
    return uvicorn.Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]
            host=settings.host,
            port=settings.port,
            loop="uvloop",
            http=partial(BoundedHttp, limits=limits),  # type: ignore[arg-type]
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(settings.shutdown_seconds),
        )
    )
