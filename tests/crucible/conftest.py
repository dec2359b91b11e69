"""Fixtures with a real service over a fresh metastore, and its users.

`service` has access rules: `root` may do everything, `alice` and `bob` what they are granted, each
on catalogs with their prefix. `open_service` has no access rules: every caller is the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forklake.crucible.settings import Settings
from tests.crucible.fix_sessions import spark_service  # noqa: F401 - a fixture
from tests.crucible.served import RunningService, run_service
from tests.fix_metastore import Place


@pytest.fixture
def backend() -> str:
    """Return the fastest backend; tests override it."""
    return "sqlite"


@pytest.fixture
def settings(place: Place, tmp_path: Path) -> Settings:
    """Return settings of a service over the metastore of `place`."""
    return Settings(
        stop_seconds=60,  # a slow machine must not make a test lose its Spark
        metastore=place.uri,
        metadata_schema=place.metadata_schema,
        create=True,
        data_path=str(tmp_path / "data"),
        expiry_seconds=3600,
    )


@pytest.fixture
def service(settings: Settings) -> Iterator[RunningService]:
    """Yield a service with access rules."""
    with run_service(settings) as found:
        yield found


@pytest.fixture
def open_service(settings: Settings) -> Iterator[RunningService]:
    """Yield a service without access rules."""
    with run_service(settings, with_rules=False) as found:
        yield found


@pytest.fixture
def client(open_service: RunningService) -> httpx.Client:
    """Return a client of the service without access rules."""
    return open_service.client()


@pytest.fixture
def root(service: RunningService) -> httpx.Client:
    """Return the client of the root."""
    return service.client_of("root")


@pytest.fixture
def alice(service: RunningService) -> httpx.Client:
    """Return the client of alice."""
    return service.client_of("alice")


@pytest.fixture
def bob(service: RunningService) -> httpx.Client:
    """Return the client of bob."""
    return service.client_of("bob")
