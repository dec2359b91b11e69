"""Many parallel requests over real sockets against PostgreSQL: a snapshot each, and no errors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.concurrency.consistency import problems
from tests.crucible.served import RunningService
from tests.fix_metastore import Place

MANY = 64
C = "/v1/catalogs"
Answers = list[dict[str, Any]]


@pytest.fixture
def backend() -> str:
    """Return the backend whose writers do not block each other."""
    return "postgresql"


def request_at_once(
    service: RunningService, request: Callable[[httpx.Client, int], httpx.Response]
) -> Answers:
    """Return the responses to requests that start together, each over its own connection."""
    start = Barrier(MANY)

    def one(number: int) -> httpx.Response:
        with httpx.Client(base_url=service.address, timeout=60, trust_env=False) as client:
            client.get("/health/live")
            start.wait()
            return request(client, number)

    with ThreadPoolExecutor(MANY) as pool:
        answers = list(pool.map(one, range(MANY)))
    assert {answer.status_code for answer in answers} == {201}, [one.text for one in answers]
    return [answer.json() for answer in answers]


def create(path: str, prefix: str, client: httpx.Client, number: int) -> httpx.Response:
    """Create an object with a numbered name."""
    return client.post(path, json={"name": f"{prefix}{number}"})


@pytest.mark.slow
def test_parallel_creations_get_unique_snapshots(
    open_service: RunningService, place: Place
) -> None:
    made = request_at_once(open_service, partial(create, C, "c"))
    assert len({row["begin_snapshot"] for row in made}) == MANY
    assert len({row["catalog_id"] for row in made}) == MANY
    request_at_once(open_service, partial(create, f"{C}/c0/schemas", "s"))
    client = open_service.client()
    history = client.get(f"{C}/c0/snapshots").json()["snapshots"]
    assert len({one["snapshot_id"] for one in history}) == len(history) == 1 + MANY
    schemas = client.get(f"{C}/c0/schemas").json()["schemas"]
    assert {one["name"] for one in schemas} == {"main", *(f"s{one}" for one in range(MANY))}
    assert len({one["schema_id"] for one in schemas}) == 1 + MANY
    assert problems(place) == []


@pytest.mark.slow
def test_parallel_forks_each_get_their_own_answer(
    open_service: RunningService, place: Place
) -> None:
    client = open_service.client()
    client.post(C, json={"name": "c"})
    made = request_at_once(open_service, partial(create, f"{C}/c/forks", "f"))
    assert [[row["name"] for row in one["catalogs"]] for one in made] == [
        [f"f{number}"] for number in range(MANY)
    ]
    assert all(one["made"] == 1 for one in made)
    assert len(client.get(f"{C}/c/forks?limit=100").json()["catalogs"]) == MANY
    assert problems(place) == []


def test_forks_created_in_one_batch_fail_individually(open_service: RunningService) -> None:
    client = open_service.client()
    client.post(C, json={"name": "c"})
    client.post(f"{C}/c/forks", json={"name": "f7"})
    start = Barrier(16)

    def one(number: int) -> int:
        with httpx.Client(base_url=open_service.address, timeout=60, trust_env=False) as own:
            start.wait()
            return own.post(f"{C}/c/forks", json={"name": f"f{number}"}).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(one, range(16)))
    assert statuses == [409 if number == 7 else 201 for number in range(16)]
