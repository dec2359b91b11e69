"""Retries of the service after broken connections and conflicts, within bounds."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from forklake.crucible.metrics import Metrics
from forklake.crucible.retries import ATTEMPTS, retry_transient
from forklake.crucible.settings import Settings
from forklake.errors import AlreadyExists, Conflict, InvalidInput
from tests.crucible.served import RunningService, run_service
from tests.fix_metastore import Place
from tests.fix_proxy import CuttableProxy

C = "/v1/catalogs"


@pytest.fixture
def backend() -> str:
    """Return the backend that is reached over connections."""
    return "postgresql"


@pytest.fixture
def proxy(shared_database: str) -> Iterator[CuttableProxy]:
    """Yield the proxy that cuts connections."""
    with CuttableProxy(shared_database) as found:
        yield found


@pytest.fixture
def distant(settings: Settings, proxy: CuttableProxy) -> Iterator[RunningService]:
    """Yield a service whose connections break."""
    away = settings.model_copy(update={"metastore": f"ducklake:postgres:{proxy.dsn()}"})
    with run_service(away, with_rules=False) as found:
        yield found


def retries(client: httpx.Client) -> float:
    """Return how often the service has retried."""
    text = client.get("/metrics").text
    return float(text.split("\nforklake_retries_total ")[1].split()[0])


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_lost_connection_is_hidden_from_clients(
    distant: RunningService, proxy: CuttableProxy, direction: str
) -> None:
    client = distant.client()
    for number in range(5):
        was_cut = proxy.cut_after(b"COMMIT", direction, False)  # type: ignore[arg-type]
        body = {"name": f"c{number}", "if_not_exists": True}
        assert client.post(C, json=body).status_code == 201
        assert was_cut.is_set()
    for number in range(5):
        was_cut = proxy.cut_after(b"COMMIT", direction, False)  # type: ignore[arg-type]
        assert client.post(f"{C}/c0/schemas", json={"name": f"s{number}"}).status_code == 201
        assert was_cut.is_set()
    assert len(client.get(C).json()["catalogs"]) == 5
    assert len(client.get(f"{C}/c0/snapshots").json()["snapshots"]) == 6


def test_a_read_of_the_catalog_is_retried_after_a_lost_connection(
    distant: RunningService, proxy: CuttableProxy
) -> None:
    client = distant.client()
    client.post(C, json={"name": "c"})
    was_cut = proxy.cut_after(b"ducklake_schema", "to_server", False)
    assert client.post(f"{C}/c/schemas", json={"name": "s"}).status_code == 201
    assert was_cut.is_set()
    assert retries(client) == 1


def test_the_final_error_states_the_number_of_attempts(place: Place) -> None:
    with place.open() as metastore:
        catalog = metastore.create_catalog("c")
        metrics = Metrics()
        tries: list[int] = []

        def outrun() -> None:
            """Make a change that a concurrent transaction always makes first."""
            number = len(tries)
            tries.append(number)
            with catalog.transaction() as ours:
                ours.create_schema(f"s{number}")
                with metastore.catalog("c").transaction() as theirs:
                    theirs.create_schema(f"s{number}")

        with pytest.raises(Conflict) as caught:
            retry_transient(outrun, metrics)
        assert caught.value.details["attempts"] == len(tries) == ATTEMPTS
        assert 5 <= ATTEMPTS <= 10


def test_only_retryable_errors_are_retried(place: Place) -> None:
    with place.open() as metastore:
        catalog = metastore.create_catalog("c")
        tries = []

        def outrun_once() -> None:
            tries.append(1)
            with catalog.transaction() as ours:
                ours.create_schema("s")
                if len(tries) == 1:
                    with metastore.catalog("c").transaction() as theirs:
                        theirs.create_schema("s")

        with pytest.raises(AlreadyExists) as caught:
            retry_transient(outrun_once, Metrics())
        assert len(tries) == 2
        assert "attempts" not in caught.value.details

        def wrong() -> None:
            tries.append(1)
            with catalog.transaction() as ours:
                ours.create_schema("")

        with pytest.raises(InvalidInput):
            retry_transient(wrong, Metrics())
        assert len(tries) == 3
