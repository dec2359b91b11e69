"""Secrets, which must appear in no log, response, metric, audit entry or repr."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from psycopg import sql

from forklake.crucible.logs import JsonFormatter
from forklake.crucible.settings import Settings
from tests.crucible.served import RunningService, run_service
from tests.fix_metastore import Place
from tests.fix_proxy import CuttableProxy

C = "/v1/catalogs"
PASSWORD = "canary-password-7f3a"
BODY = "canary-body-91bc"
QUERY = "canary-query-55de"
WRONG = "fl_0123456789abcdef_canary-wrong-key-0000000000000000000000000000"


@pytest.fixture
def backend() -> str:
    """Return the backend that requires a password."""
    return "postgresql"


@pytest.fixture
def proxy(shared_database: str) -> Iterator[CuttableProxy]:
    """Yield a proxy that cuts connections, which causes errors to be logged."""
    with CuttableProxy(shared_database) as found:
        yield found


@pytest.fixture
def guarded(
    settings: Settings, place: Place, shared_database: str, proxy: CuttableProxy
) -> Iterator[RunningService]:
    """Yield a service that logs in with a password."""
    with psycopg.connect(shared_database, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE ROLE canary LOGIN SUPERUSER PASSWORD {}").format(PASSWORD)
        )
    with place.open():  # create the tables before the other role connects
        pass
    dsn = proxy.dsn().replace("user=postgres", f"user=canary&password={PASSWORD}&connect_timeout=1")
    assert PASSWORD in dsn
    try:
        away = settings.model_copy(update={"metastore": f"ducklake:postgres:{dsn}"})
        with run_service(away) as found:
            yield found
    finally:
        with psycopg.connect(shared_database, autocommit=True) as connection:
            connection.execute("DROP OWNED BY canary CASCADE")
            connection.execute("DROP ROLE canary")


def use(client: httpx.Client) -> list[httpx.Response]:
    """Send requests that succeed and that fail, with secrets in every possible place."""
    column = {"name": "a", "type": BODY}
    return [
        client.post(C, json={"name": "alice-1"}),
        client.post(C, json={"name": "alice-1"}),
        client.post(C, json={"name": "alice-2", "password": BODY}),
        client.post(C, content=BODY.encode(), headers={"Content-Type": "application/json"}),
        client.post(C, json={"name": {"secret": BODY}}),
        client.put(f"{C}/alice-1/grants/bob", json={"role": BODY}),
        client.post(f"{C}/alice-1/schemas", json={"name": "s", "comment": BODY}),
        client.get(C, params={"token": QUERY, "limit": QUERY}),
        client.get(f"{C}/alice-1/schemas", params={"timestamp": QUERY}),
        client.post(f"{C}/alice-1/tokens", json={"rights": ["read"], "seconds": BODY}),
        client.get("/v1/me"),
        client.get("/v1/audit"),
        client.get("/v1/nothing", params={"key": QUERY}),
        client.request("PUT", C, json={"secret": BODY}),
        client.post(f"{C}/alice-1/schemas/main/tables/t/columns", json={"columns": [column]}),
    ]


@pytest.mark.slow
def test_secrets_are_never_revealed(
    guarded: RunningService, proxy: CuttableProxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    alice, root = guarded.client_of("alice"), guarded.client_of("root")
    shown = use(alice) + use(root) + use(guarded.client(WRONG))
    made = [
        alice.post(f"{C}/alice-1/tokens", json={"rights": ["read"]}),
        root.post("/v1/principals/bob/keys"),
    ]
    token, key = made[0].json()["token"], made[1].json()["key"]
    shown += use(guarded.client(token)) + use(guarded.client(key))
    proxy.close()
    shown += [root.get(C), root.get("/health/ready")]
    assert {503} == {answer.status_code for answer in shown[-2:]}
    shown += [root.get("/metrics"), root.get("/openapi.json"), root.get("/health/live")]
    answers = [f"{answer.headers}{answer.text}" for answer in shown]
    ours = [
        one for one in caplog.records if not one.name.startswith("http")
    ]  # not those of the client
    logged = [JsonFormatter().format(record) for record in ours]
    assert any('"problem"' in line for line in logged)
    others = [repr(guarded.service.home), repr(guarded.service)]
    secrets = [PASSWORD, BODY, QUERY, WRONG, token, key, *guarded.keys.values()]
    for secret in secrets:
        for text in (*answers, *logged, *others):
            assert secret not in text
