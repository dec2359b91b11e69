"""Fixtures with a service on a socket, and its clients."""

from __future__ import annotations

from tests.crucible.conftest import backend, open_service, service, settings

__all__ = ["backend", "open_service", "service", "settings"]
