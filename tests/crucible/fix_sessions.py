"""A service whose sessions use the shared Spark of the tests, and users who run statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.crucible.served import RunningService

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

LONG = "SELECT count(*) FROM range(100000000000) WHERE range * 7 % 11 = 3"


@dataclass(frozen=True)
class Person:
    """A user with an open session."""

    client: httpx.Client
    session: str

    @property
    def path(self) -> str:
        """Path of the session."""
        return f"/v1/sessions/{self.session}"

    def run(self, sql: str, **stated: Any) -> dict[str, Any]:
        """Run a statement, and return its state after at most 30 seconds."""
        answer = self.client.post(
            f"{self.path}/statements", json={"sql": sql, "wait_seconds": 30, **stated}
        )
        assert answer.status_code in (200, 202), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def run_successfully(self, sql: str, **stated: Any) -> dict[str, Any]:
        """Run a statement that must succeed."""
        found = self.run(sql, **stated)
        assert found["state"] == "done", found
        return found

    def run_failing(self, sql: str, **stated: Any) -> str:
        """Run a statement that must fail, and return the code of its error."""
        found = self.run(sql, **stated)
        assert found["state"] == "failed", found
        return str(found["error"]["code"])

    def rows(self, sql: str, **stated: Any) -> list[list[Any]]:
        """Return the rows of a query."""
        number = self.run_successfully(sql, **stated)["statement"]
        answer = self.client.get(f"{self.path}/statements/{number}/rows")
        assert answer.status_code == 200, answer.text
        found: list[list[Any]] = answer.json()["rows"]
        return found


def open_session(client: httpx.Client, catalog: str, **stated: Any) -> Person:
    """Open a session."""
    answer = client.post("/v1/sessions", json={"catalog": catalog, **stated})
    assert answer.status_code == 201, answer.text
    return Person(client, answer.json()["session"])


@pytest.fixture
def spark_service(engine: Engine, service: RunningService) -> RunningService:
    """Return a service with access rules, a running Spark, and a catalog each for alice and bob."""
    for name in ("alice", "bob"):
        answer = service.client_of(name).post("/v1/catalogs", json={"name": f"{name}-sales"})
        assert answer.status_code == 201, answer.text
    return service
