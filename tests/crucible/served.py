"""A service on a real socket, in a thread of the test process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx

from forklake.access.access import Access
from forklake.access.callers import LOCAL
from forklake.crucible.app import create_app
from forklake.crucible.service import Service
from forklake.crucible.settings import Settings
from forklake.crucible.web_server import create_server

PEOPLE = ("alice", "bob")


@dataclass(frozen=True)
class RunningService:
    """A running service, and the keys of its users."""

    address: str
    service: Service
    keys: dict[str, str]
    _clients: ExitStack = field(default_factory=ExitStack)

    def client(self, credential: str | None = None) -> httpx.Client:
        """Return a client with a credential, or without one."""
        headers = {"Authorization": f"Bearer {credential}"} if credential else {}
        found = httpx.Client(base_url=self.address, headers=headers, timeout=60, trust_env=False)
        return self._clients.enter_context(found)

    def client_of(self, name: str) -> httpx.Client:
        """Return the client of a user."""
        return self.client(self.keys[name])


@contextmanager
def run_service(settings: Settings, *, with_rules: bool = True) -> Iterator[RunningService]:
    """Run a service on a free local port, with access rules and users or without."""
    app = create_app(settings)
    service: Service = app.state.service
    keys = create_users(service.access) if with_rules else {}
    # It listens before the server runs, so that early connections wait instead of being refused.
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    web = create_server(app, settings)
    thread = threading.Thread(target=web.run, args=([listener],), name="web")
    thread.start()
    found = RunningService(address, service, keys)
    try:
        httpx.get(f"{address}/health/live", trust_env=False, timeout=60)
        with found._clients:
            yield found
    finally:
        web.should_exit = True
        thread.join()
        listener.close()
        service.close()


def create_users(access: Access) -> dict[str, str]:
    """Create the access rules, a root and users, and return their keys."""
    access.init()
    access.principals.create(LOCAL, "root", "house", is_root=True)
    for name in PEOPLE:
        access.principals.create(LOCAL, name, name, prefixes=[f"{name}-"])
    return {name: access.keys.create(LOCAL, name)[1] for name in ("root", *PEOPLE)}
