"""A real service over a fresh metastore, and people who use it.

`service` has access rules: `root` may do everything, `alice` and `bob` what they are granted, each
on catalogs whose names begin with theirs. `open_service` has none: whoever reaches it is the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forklake.crucible.settings import Settings
from tests.crucible.fix_sessions import sparked  # noqa: F401 - a fixture
from tests.crucible.served import Running, running
from tests.fix_metastore import Place


@pytest.fixture
def backend() -> str:
    """The quickest one, unless a test asks for another."""
    return "sqlite"


@pytest.fixture
def settings(place: Place, tmp_path: Path) -> Settings:
    """Settings of a service over the metastore of the place."""
    return Settings(
        stop_seconds=60,  # no test loses its Spark because the machine is slow
        metastore=place.uri,
        metadata_schema=place.metadata_schema,
        create=True,
        data_path=str(tmp_path / "data"),
        expiry_seconds=3600,
    )


@pytest.fixture
def service(settings: Settings) -> Iterator[Running]:
    """A service with access rules."""
    with running(settings) as found:
        yield found


@pytest.fixture
def open_service(settings: Settings) -> Iterator[Running]:
    """A service without access rules."""
    with running(settings, with_rules=False) as found:
        yield found


@pytest.fixture
def client(open_service: Running) -> httpx.Client:
    """Anybody, where there are no rules."""
    return open_service.client()


@pytest.fixture
def root(service: Running) -> httpx.Client:
    """The root's client."""
    return service.of("root")


@pytest.fixture
def alice(service: Running) -> httpx.Client:
    """Alice's client."""
    return service.of("alice")


@pytest.fixture
def bob(service: Running) -> httpx.Client:
    """Bob's client."""
    return service.of("bob")
