"""Limits on resources of unauthenticated callers: credentials, connections, partial requests."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from forklake.access.credentials import new_key
from forklake.access.rate_limits import RateLimit
from forklake.crucible.connections import ConnectionLimits
from forklake.crucible.pages.visitors import SignIns
from forklake.crucible.proxies import Proxies
from forklake.crucible.refusals import Refusals
from forklake.crucible.settings import Settings
from forklake.errors import InvalidInput, RateLimited
from tests.access.conftest import Clock
from tests.crucible.served import RunningService, run_service

C = "/v1/catalogs"


# Wrong credentials


@pytest.fixture
def strict(settings: Settings) -> Iterator[RunningService]:
    """Yield a service that accepts few wrong credentials, behind a proxy on this machine."""
    few = {"refusals_per_minute": 5, "trusted_proxies": ("127.0.0.1",)}
    with run_service(settings.model_copy(update=few)) as found:
        yield found


def request_status(service: RunningService, credential: str, address: str = "") -> int:
    """Return the status of a request with a credential."""
    headers = {"X-Forwarded-For": address} if address else {}
    return service.client(credential).get("/v1/me", headers=headers).status_code


def test_wrong_keys_are_limited_by_address(strict: RunningService) -> None:
    assert request_status(strict, strict.keys["alice"], "192.0.2.1") == 200
    found = [request_status(strict, new_key().text, "192.0.2.1") for _ in range(8)]
    assert found == [401] * 5 + [429] * 3
    answer = strict.client(new_key().text).get(C, headers={"X-Forwarded-For": "192.0.2.1"})
    assert 1 <= int(answer.headers["retry-after"]) <= 12
    assert answer.json()["error"]["code"] == "rate_limited"
    # Other addresses are not locked out, nor is a key that was valid before.
    assert request_status(strict, new_key().text, "192.0.2.2") == 401
    assert request_status(strict, strict.keys["alice"], "192.0.2.1") == 200
    assert request_status(strict, strict.keys["bob"], "192.0.2.1") == 429


def test_wrong_secrets_of_one_key_are_limited_from_all_addresses(strict: RunningService) -> None:
    _, number, _ = strict.keys["alice"].split("_", 2)
    wrong = [f"fl_{number}_{new_key().text.split('_', 2)[2]}" for _ in range(8)]
    found = [request_status(strict, one, f"192.0.2.{place}") for place, one in enumerate(wrong)]
    assert found == [401] * 5 + [429] * 3
    assert request_status(strict, new_key().text, "192.0.2.1") == 401


def test_wrong_keys_are_limited_on_pages_and_in_the_iceberg_interface(
    strict: RunningService,
) -> None:
    client = strict.client()
    page = client.get("/sign-in").text
    token = page.partition('name="csrf" value="')[2].partition('"')[0]
    for expected in (401, 401, 401, 401, 401, 429):
        form = {"credential": new_key().text, "csrf": token}
        answer = client.post("/sign-in", data=form)
        assert answer.status_code == expected
    assert "retry-after" in answer.headers
    answer = strict.client(new_key().text).get("/iceberg/v1/config?warehouse=x")
    assert answer.status_code == 429
    assert "retry-after" in answer.headers


def test_a_key_that_was_revoked_is_limited_like_a_wrong_one(strict: RunningService) -> None:
    alice = strict.client_of("alice")
    (key,) = alice.get("/v1/principals/alice/keys").json()["keys"]
    alice.delete(f"/v1/principals/alice/keys/{key['key_id']}")
    strict.service.forget_callers()
    found = [request_status(strict, strict.keys["alice"], "192.0.2.9") for _ in range(8)]
    assert found == [401] * 5 + [429] * 3
    (entry, *_) = strict.client_of("root").get("/v1/audit").json()["entries"]
    assert (entry["operation"], entry["outcome"]) == ("key.use", "denied")
    assert entry["object"] == f"{key['key_id']} from 192.0.2.9"


def test_a_rate_limit_refills_and_evicts_the_oldest_keys() -> None:
    clock = Clock()
    limit = RateLimit(60, burst=2, most_keys=3, clock=lambda: clock().timestamp())
    assert [limit.spend("a") for _ in range(3)] == [0, 0, 1]
    clock.advance(1)
    assert [limit.spend("a") for _ in range(2)] == [0, 1]
    clock.advance(3600)
    assert [limit.spend("a") for _ in range(3)] == [0, 0, 1]  # no more than the burst
    for key in "bcd":
        limit.spend(key)
    assert len(limit._left) == 3
    assert limit.wait("a") == 0


def test_addresses_of_one_network_count_as_one_client() -> None:
    refusals = Refusals(2)
    for number in range(2):
        refusals.refuse(new_key().text, f"2001:db8::{number}")
    with pytest.raises(RateLimited):
        refusals.check(new_key().text, "2001:db8::ffff")
    refusals.check(new_key().text, "2001:db8:0:1::1")


def test_many_sign_ins_of_one_visitor_do_not_sign_others_out() -> None:
    sign_ins = SignIns()
    other = sign_ins.add("other")
    cookies = [sign_ins.add("eager") for _ in range(10_100)]
    assert sign_ins.find(other) == "other"
    assert sign_ins.find(cookies[0]) is None
    assert sign_ins.find(cookies[-50]) == sign_ins.find(cookies[-1]) == "eager"


def test_a_token_for_a_fork_shows_no_name_of_its_parent(service: RunningService) -> None:
    alice = service.client_of("alice")
    alice.post(C, json={"name": "alice-parent"}).raise_for_status()
    alice.post(f"{C}/alice-parent/forks", json={"name": "alice-fork"}).raise_for_status()
    made = alice.post(f"{C}/alice-fork/tokens", json={"rights": ["read"]}).json()
    client = service.client()
    page = client.get("/sign-in").text
    form = {"csrf": page.partition('name="csrf" value="')[2].partition('"')[0]}
    answer = client.post("/sign-in", data={**form, "credential": made["token"]})
    assert answer.status_code == 303
    for path in ("/", "/catalogs/alice-fork", "/catalogs/alice-fork/forks"):
        text = client.get(path).text
        assert "alice-fork" in text
        assert "alice-parent" not in text
    holder = service.client(made["token"])
    for path in ("", "/alice-fork", "/alice-fork/tree", "/alice-fork/snapshots"):
        assert "alice-parent" not in holder.get(f"{C}{path}").text


# Proxies


def resolve_client(peer: str, headers: dict[str, str], *networks: str) -> tuple[str, str]:
    """Return the address and the scheme of a request as seen by a service."""
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"client": (peer, 1), "scheme": "http", "headers": encoded}
    Proxies(networks).resolve(scope)
    return scope["client"][0], scope["scheme"]


def test_forwarded_headers_count_from_trusted_proxies_only() -> None:
    stated = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7", "X-Forwarded-Proto": "https"}
    assert resolve_client("10.0.0.1", stated) == ("10.0.0.1", "http")
    assert resolve_client("10.0.0.1", stated, "10.0.0.2") == ("10.0.0.1", "http")
    assert resolve_client("10.0.0.1", stated, "10.0.0.0/8") == ("198.51.100.7", "https")
    assert resolve_client("10.0.0.1", stated, "10.0.0.0/8", "198.51.100.0/24") == (
        "203.0.113.9",
        "https",
    )
    assert resolve_client("::ffff:10.0.0.1", stated, "10.0.0.1") == ("198.51.100.7", "https")
    forged = {"X-Forwarded-For": "127.0.0.1, nonsense, [2001:db8::1]:99"}
    assert resolve_client("10.0.0.1", forged, "10.0.0.1") == ("2001:db8::1", "http")
    assert resolve_client("10.0.0.1", {"X-Forwarded-For": "nonsense"}, "10.0.0.1") == (
        "10.0.0.1",
        "http",
    )
    assert resolve_client("10.0.0.1", {"X-Forwarded-Proto": "gopher"}, "10.0.0.1")[1] == "http"


def test_a_proxy_is_an_address_or_a_network() -> None:
    from forklake.crucible.settings import read_settings

    assert read_settings(trusted_proxies=["::1", "10.0.0.0/8"]).trusted_proxies
    with pytest.raises(InvalidInput, match="trusted_proxies"):
        read_settings(trusted_proxies=["proxy.example"])


@pytest.mark.parametrize("is_trusted", [True, False])
def test_cookies_are_secure_behind_a_trusted_tls_proxy(
    settings: Settings, is_trusted: bool
) -> None:
    proxies = ("127.0.0.1",) if is_trusted else ()
    with run_service(settings.model_copy(update={"trusted_proxies": proxies})) as service:
        answer = service.client().get("/sign-in", headers={"X-Forwarded-Proto": "https"})
        assert ("secure" in answer.headers["set-cookie"].lower()) is is_trusted
        assert ("strict-transport-security" in answer.headers) is is_trusted
        plain = service.client().get("/sign-in")
        assert "secure" not in plain.headers["set-cookie"].lower()
        assert "strict-transport-security" not in plain.headers


@pytest.mark.parametrize(
    ("proxies", "client", "expected"),
    [
        ((), "192.0.2.1", 403),
        ((), "127.0.0.1", 403),
        (("127.0.0.1",), "192.0.2.1", 403),
        (("127.0.0.1",), "127.0.0.1", 200),
    ],
)
def test_a_service_without_rules_refuses_remote_clients_behind_a_proxy(
    settings: Settings, proxies: tuple[str, ...], client: str, expected: int
) -> None:
    trusting = settings.model_copy(update={"trusted_proxies": proxies})
    with run_service(trusting, with_rules=False) as service:
        answer = service.client().get(C, headers={"X-Forwarded-For": client})
        assert answer.status_code == expected


# Connections


@pytest.fixture
def hasty(settings: Settings) -> Iterator[RunningService]:
    """Yield a service that waits for half a second."""
    update = {"head_seconds": 0.5, "body_seconds": 0.5, "connections": 20}
    with run_service(settings.model_copy(update=update), with_rules=False) as found:
        yield found


@contextmanager
def connect(service: RunningService) -> Iterator[socket.socket]:
    """Connect to a service."""
    host, port = service.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as found:
        yield found


def receive_all(connection: socket.socket) -> bytes:
    """Return everything that is received until the connection is closed."""
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


def drip(connection: socket.socket, part: bytes) -> float:
    """Send a part repeatedly until the connection is closed, and return the elapsed seconds."""
    began = time.monotonic()
    connection.settimeout(0.1)
    while time.monotonic() < began + 20:
        try:
            connection.sendall(part)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - began


@pytest.mark.parametrize(
    "begin",
    [b"", b"GET / HT", b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
)
def test_a_connection_without_a_whole_head_is_closed(hasty: RunningService, begin: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(begin)
        began = time.monotonic()
        assert receive_all(connection) == b""
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("part", [b"\r\n", b"x"])
def test_slow_bytes_do_not_prolong_the_wait_for_a_head(hasty: RunningService, part: bytes) -> None:
    with connect(hasty) as connection:
        if part == b"x":
            connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        assert drip(connection, part) < 10
    with connect(hasty) as connection:  # the same after a response
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert drip(connection, part) < 10


def test_an_incomplete_body_times_out_and_closes_the_connection(hasty: RunningService) -> None:
    head = b"POST /v1/catalogs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with connect(hasty) as connection:
        connection.sendall(head + b'Content-Length: 100\r\n\r\n{"name": ')
        assert receive_all(connection).startswith(b"HTTP/1.1 408")
    with connect(
        hasty
    ) as connection:  # a response before the body ends does not keep the connection open
        connection.sendall(b"GET /health/live HTTP/1.1\r\nContent-Length: 9999\r\n\r\n")
        assert drip(connection, b"x") < 10


def test_the_size_of_a_head_is_limited(open_service: RunningService) -> None:
    with connect(open_service) as connection:
        began = time.monotonic()
        with suppress(ConnectionError):  # the server may close it while this side still sends
            connection.sendall(b"GET / HTTP/1.1\r\nX-Long: ")
            for _ in range(100):
                connection.sendall(b"x" * 65536)
            assert receive_all(connection).startswith(b"HTTP/1.1 431")
        assert time.monotonic() - began < open_service.service.settings.head_seconds
    assert open_service.client().get("/health/live").status_code == 200


def test_the_number_of_connections_is_limited(hasty: RunningService) -> None:
    opened = []
    try:
        for _ in range(30):
            host, port = hasty.address.removeprefix("http://").split(":")
            opened.append(socket.create_connection((host, int(port)), timeout=20))
        assert sum(receive_all(one).startswith(b"HTTP/1.1 503") for one in opened) >= 10
    finally:
        for one in opened:
            one.close()
    assert hasty.client().get("/health/live").status_code == 200


def test_the_number_of_connections_per_address_is_limited() -> None:
    bounds = ConnectionLimits(100, 2, 1.0, 1.0, Proxies(["198.51.100.1"]))
    for address in ("192.0.2.1", "198.51.100.1", "127.0.0.1", "192.0.2.2"):
        bounds.open_by_address[address] = 3
    bounds.open_by_address["192.0.2.2"] = 2
    found = {address: bounds.allows(address, 10) for address in bounds.open_by_address}
    assert found == {
        "192.0.2.1": False,
        "198.51.100.1": True,  # many clients come through a proxy
        "127.0.0.1": True,
        "192.0.2.2": True,
    }
    assert not bounds.allows("192.0.2.2", 101)


def test_a_large_body_that_is_refused_early_is_still_drained(settings: Settings) -> None:
    small = settings.model_copy(update={"body_bytes": 1000})
    with run_service(small, with_rules=False) as service:
        client = service.client()
        for _ in range(3):
            answer = client.post(C, content=b"x" * 2_000_000)
            assert answer.status_code == 413
            assert client.get("/health/live").status_code == 200


def test_log_lines_name_the_address_of_the_client(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "forklake.crucible")
    with run_service(settings.model_copy(update={"trusted_proxies": ("127.0.0.1",)})) as service:
        service.client_of("alice").get("/v1/me", headers={"X-Forwarded-For": "192.0.2.77"})
    reported = [getattr(one, "facts", {}).get("address") for one in caplog.records]
    assert "192.0.2.77" in reported
