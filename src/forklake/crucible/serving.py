"""Serving: the application on a socket, until it is told to end.

On SIGTERM or Ctrl-C it takes no more connections, lets requests under way end, and closes the
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
from forklake.crucible.connections import BoundedHttp, Bounds
from forklake.crucible.proxies import Proxies
from forklake.crucible.service import Service
from forklake.crucible.settings import Settings
from forklake.errors import InvalidInput

_TURN_SECONDS = 0.001


def serve(settings: Settings) -> None:
    """Serve until the process is told to end."""
    logs.configure(settings.log_level)
    # Threads take turns: whoever works on an answer must not keep the one waiting who sends it.
    sys.setswitchinterval(_TURN_SECONDS)
    app = create_app(settings)
    service: Service = app.state.service
    try:
        refuse_strangers(service)
        service.access.check_signing_keys()
        listener = _listener(settings)
        host, port = listener.getsockname()[:2]
        logs.note("serving", address=f"http://{host}:{port}")
        server(app, settings).run([listener])
    finally:
        service.close()


def refuse_strangers(service: Service) -> None:
    """Without access rules everybody who can reach the service may do everything."""
    settings = service.settings
    if not settings.is_loopback and service.access.is_open():
        raise InvalidInput(
            f"Without access rules the service does not listen on {settings.host}.",
            remedy="Make a root first: forklake access init, then forklake access principal add;"
            " or listen on 127.0.0.1.",
        )


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as reason:
        raise InvalidInput(
            f"The service cannot listen on {settings.host}, port {settings.port}:"
            f" {reason.strerror or reason}.",
            remedy="Choose another address or port.",
        ) from None


def server(app: object, settings: Settings) -> uvicorn.Server:
    """The web server, with all that it needs to know."""
    # Its own log of requests holds whole addresses, whoever listens: the edge tells enough.
    logging.getLogger("uvicorn.access").disabled = True
    bounds = Bounds(
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
            http=partial(BoundedHttp, bounds=bounds),  # type: ignore[arg-type]
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(settings.shutdown_seconds),
        )
    )
