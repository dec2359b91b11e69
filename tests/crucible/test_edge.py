"""Handling of every request: ids, limits, headers, logs; and start and end of a service."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forklake.crucible.logs import JsonFormatter
from forklake.crucible.middleware import HEADERS
from forklake.crucible.service import Service
from forklake.crucible.settings import Settings, read_settings
from forklake.crucible.web_server import require_access_rules
from forklake.errors import InvalidInput
from tests.crucible.served import RunningService, create_users, run_service

C = "/v1/catalogs"


def test_a_harmless_request_id_is_kept(client: httpx.Client) -> None:
    def reported(given: str) -> str:
        return client.get("/v1/me", headers={"X-Request-Id": given}).headers["x-request-id"]

    assert reported("abc-1.2_3") == "abc-1.2_3"
    for bad in ("", "x" * 65, "a b", 'a"b', "a\tb"):
        assert re.fullmatch("[0-9a-f]{32}", reported(bad))


def test_requests_from_other_sites_are_refused_by_a_service_without_rules(
    client: httpx.Client, open_service: RunningService
) -> None:
    own = open_service.address
    assert client.post(C, json={"name": "c"}, headers={"Origin": own}).status_code == 201
    materialize = f"{C}/c/materialize"  # needs no body, so that browsers send no preflight
    assert client.post(materialize, headers={"Origin": own}).status_code == 200
    for origin in (
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[",
    ):
        answer = client.post(materialize, headers={"Origin": origin})
        assert answer.status_code == 403, origin
        assert answer.json()["error"]["code"] == "forbidden"


def test_every_response_has_security_headers(client: httpx.Client) -> None:
    for path in ("/health/live", "/v1/me", "/v1/nothing", "/metrics", "/openapi.json"):
        headers = client.get(path).headers
        assert all(headers[name.decode()] == value.decode() for name, value in HEADERS), path


def test_large_bodies_are_refused_with_and_without_content_length(settings: Settings) -> None:
    small = settings.model_copy(update={"body_bytes": 1000})
    with run_service(small, with_rules=False) as service:
        client = service.client()
        body = json.dumps({"name": "c", "data_path": "x" * 2000}).encode()

        def pieces() -> Iterator[bytes]:
            yield body[:900]
            yield body[900:]

        headers = {"Content-Type": "application/json"}
        for content in (body, pieces()):
            answer = client.post(C, content=content, headers=headers)
            assert answer.status_code == 413
            assert answer.json()["error"]["code"] == "too_large"
        assert client.get(C).json()["catalogs"] == []


def test_a_request_that_takes_too_long_times_out(settings: Settings) -> None:
    hasty = settings.model_copy(update={"request_seconds": 0.3})
    with run_service(hasty, with_rules=False) as service:
        client = service.client()
        assert client.post(C, json={"name": "c"}).status_code == 201
        with service.service.home.database.writing() as connection:
            connection.fetch("UPDATE ducklake_metadata SET value = value")
            answer = client.post(C, json={"name": "d"})
            assert answer.status_code == 504
            assert answer.json()["error"]["retryable"]
        assert client.get("/health/ready").status_code == 200


def test_internal_errors_are_only_logged(
    open_service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    client = open_service.client()
    client.post(C, json={"name": "c"})
    with open_service.service.home.database.writing() as connection:
        connection.fetch("DROP TABLE ducklake_schema")
        connection.commit()
    answer = client.get(f"{C}/c/schemas", headers={"X-Request-Id": "here"})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "corruption"
    assert "ducklake_schema" not in answer.text
    (reported,) = [record for record in caplog.records if record.message == "problem"]
    assert reported.facts["request_id"] == "here"  # type: ignore[attr-defined]
    assert "ducklake_schema" in reported.facts["error"]  # type: ignore[attr-defined]


def test_a_request_is_logged_as_one_line_of_json(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "forklake.crucible")
    with run_service(settings) as service:
        service.client_of("alice").post(
            C, json={"name": "alice-1"}, headers={"X-Request-Id": "here"}
        )
    (record,) = [one for one in caplog.records if getattr(one, "facts", {}).get("status") == 201]
    line = json.loads(JsonFormatter().format(record))
    assert line.pop("ms") > 0
    assert line.pop("time")
    assert line == {
        "level": "info",
        "event": "request",
        "request_id": "here",
        "principal": "alice",
        "address": "127.0.0.1",
        "method": "POST",
        "route": C,
        "status": 201,
    }


def test_metrics_are_counted_by_route_and_not_by_name(client: httpx.Client) -> None:
    client.post(C, json={"name": "secret-name"})
    client.post(f"{C}/secret-name/forks", json={"names": ["f1", "f2"]})
    client.get(f"{C}/secret-name")
    client.get("/v1/secret-name")
    text = client.get("/metrics").text
    assert "secret-name" not in text
    for line in (
        'forklake_requests_total{method="GET",route="/v1/catalogs/{catalog}",status="200"} 1.0',
        'forklake_requests_total{method="GET",route="none",status="404"} 1.0',
        "forklake_forks_total 2.0",
        "forklake_catalogs_created_total 1.0",
    ):
        assert line in text


def test_without_its_metastore_a_service_is_live_but_not_ready(
    open_service: RunningService,
) -> None:
    client = open_service.client()
    open_service.service.is_closing = True
    assert client.get("/health/live").status_code == 200
    assert client.get("/health/ready").status_code == 503
    open_service.service.is_closing = False


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_without_access_rules_only_loopback_hosts_are_allowed(
    settings: Settings, host: str
) -> None:
    service = Service(settings.model_copy(update={"host": host}))
    try:
        with pytest.raises(InvalidInput, match="access rules"):
            require_access_rules(service)
        create_users(service.access)
        require_access_rules(service)
    finally:
        service.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_loopback_addresses_are_recognized(host: str) -> None:
    assert Settings(host=host).is_loopback


def test_explicit_settings_override_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "forklake.toml"
    file.write_text('metastore = "ducklake:x.db"\nport = 1\n[stamps]\nwest = "ducklake:w.db"\n')
    found = read_settings(str(file), port=2, host=None)
    assert (found.metastore, found.port, found.host) == ("ducklake:x.db", 2, "127.0.0.1")
    assert found.stamps == {"west": "ducklake:w.db"}
    for text in ("port = 'many'", "prot = 1", "port = ", "request_seconds = 0"):
        file.write_text(text)
        with pytest.raises(InvalidInput):
            read_settings(str(file))
    with pytest.raises(InvalidInput):
        read_settings(str(tmp_path / "none.toml"))


def test_the_command_serves_and_stops_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forklake.cli.main", "serve", "--port", "0", "--create"]
    environment = {**os.environ, "FORKLAKE_METASTORE": f"ducklake:{tmp_path / 'm.db'}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(json.loads(line)["address"] for line in process.stderr if "address" in line)
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            assert client.post(C, json={"name": "c"}).status_code == 201
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in process.stderr]
    assert process.returncode in (0, -signal.SIGTERM)
    assert any(line.get("route") == C for line in rest)
    assert not any(line["level"] in ("error", "critical") for line in rest)


def test_the_command_refuses_public_addresses_without_rules(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forklake.cli.main", "serve", "--host", "0.0.0.0", "--create"]
    environment = {**os.environ, "FORKLAKE_METASTORE": f"ducklake:{tmp_path / 'm.db'}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "access rules" in done.stderr
