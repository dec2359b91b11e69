"""Strangers get equal responses for catalogs of others and for missing ones.

The routes are taken from the application: a new route is tested without being listed here, and
fails until the table below has a body for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from forklake.crucible.api import ROUTERS
from tests.crucible.served import RunningService

C = "/v1/catalogs"
THEIRS, MISSING = "alice-there", "alice-wrong"  # of equal length, and so are the responses
COLUMN = {"name": "x", "type": "int32"}
# The bodies of requests that need one, by method and end of the path.
BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "{catalog}"): {"name": "bob-taken"},
    ("POST", "/forks"): {"name": "bob-fork"},
    ("POST", "/merge"): {"source": "alice-there"},
    ("POST", "/schemas"): {"name": "s"},
    ("PATCH", "/{schema}"): {"name": "s"},
    ("POST", "/tables"): {"name": "x", "columns": [COLUMN]},
    ("PATCH", "/{table}"): {"comment": "x"},
    ("POST", "/columns"): COLUMN,
    ("PATCH", "/{column}"): {"comment": "x"},
    ("POST", "/views"): {"name": "v", "sql": "SELECT 1"},
    ("PUT", "/options/{option}"): {"value": "1MB"},
    ("POST", "/maintenance/{operation}"): {"dry_run": True},
    ("PUT", "/grants/{principal}"): {"role": "reader"},
    ("POST", "/tokens"): {"rights": ["read"]},
    ("PUT", "/prefixes"): {"prefix": "alice-", "role": "owner"},
    ("PUT", "/quota"): {"catalogs": 1},
    ("POST", "/statements"): {"sql": "SELECT 1"},
}
# Values of the other parameters of paths, with a query where one is required.
OTHERS = {
    "schema": "main",
    "table": "t",
    "column": "a",
    "view": "v",
    "option": "target_file_size",
    "operation": "expire",
    "other": "alice-there",
    "key": "0000000000000000",
    "session": "0" * 24,
    "statement": "1",
}
QUERIES = {("DELETE", "/v1/principals/{principal}/prefixes"): "?prefix=alice-"}


def routes(parameter: str) -> Iterator[tuple[str, str, APIRoute]]:
    """Yield method and path of each route that has a parameter."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and f"{{{parameter}}}" in route.path:
                for method in sorted((route.methods or set()) - {"HEAD"}):  # it has no body
                    yield method, route.path, route


def body_for(method: str, path: str, route: APIRoute) -> Any:
    """Return the body of a request to a route."""
    if route.body_field is None:
        return None
    (found,) = [body for (one, end), body in BODIES.items() if one == method and path.endswith(end)]
    return found


def collect_responses(
    client: httpx.Client, parameter: str, value: str
) -> dict[tuple[str, str], Any]:
    """Return the responses of all routes with a parameter, without the parts that always differ."""
    found = {}
    for method, path, route in routes(parameter):
        address = path.replace(f"{{{parameter}}}", value)
        for name, other in {"principal": "alice", **OTHERS}.items():
            address = address.replace(f"{{{name}}}", other)
        address += QUERIES.get((method, path), "")
        answer = client.request(method, address, json=body_for(method, path, route))
        error = answer.json()["error"]
        error.pop("request_id", None)
        text = repr(error).replace(value, "NAME")
        headers = {name: one for name, one in answer.headers.items() if name != "x-request-id"}
        found[method, path] = (answer.status_code, text, headers)
    return found


@pytest.fixture
def service_with_catalog(service: RunningService) -> RunningService:
    """Return a service in which alice has a catalog with a table."""
    alice = service.client_of("alice")
    assert alice.post(C, json={"name": THEIRS}).status_code == 201
    columns = [{"name": name, "type": "int32"} for name in "ab"]
    made = alice.post(f"{C}/{THEIRS}/schemas/main/tables", json={"name": "t", "columns": columns})
    assert made.status_code == 201
    return service


def test_catalogs_of_others_look_like_missing_ones(service_with_catalog: RunningService) -> None:
    bob = service_with_catalog.client_of("bob")
    theirs, missing = (
        collect_responses(bob, "catalog", THEIRS),
        collect_responses(bob, "catalog", MISSING),
    )
    assert len(theirs) >= 35
    for route, answer in theirs.items():
        assert answer == missing[route], route
        assert answer[0] == 404, (route, answer)
    assert service_with_catalog.client_of("alice").get(f"{C}/{THEIRS}").status_code == 200


def test_a_token_for_another_catalog_reveals_nothing(service_with_catalog: RunningService) -> None:
    alice = service_with_catalog.client_of("alice")
    alice.post(C, json={"name": "alice-other"})
    body = {"rights": ["read", "fork", "write", "administer", "own"]}
    token = alice.post(f"{C}/alice-other/tokens", json=body).json()["token"]
    holder = service_with_catalog.client(token)
    assert holder.get(f"{C}/alice-other").status_code == 200
    assert collect_responses(holder, "catalog", THEIRS) == collect_responses(
        holder, "catalog", MISSING
    )
    assert [row["name"] for row in holder.get(C).json()["catalogs"]] == ["alice-other"]


def test_every_path_parameter_is_tested() -> None:
    tried = {
        route.path for name in ("catalog", "principal", "session") for *_, route in routes(name)
    }
    all_of_them = {
        route.path
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and "{" in route.path
    }
    assert tried == all_of_them


@pytest.mark.parametrize("parameter", ["principal", "session"])
def test_principals_and_sessions_of_others_look_like_missing_ones(
    service_with_catalog: RunningService, parameter: str
) -> None:
    bob = service_with_catalog.client_of("bob")
    real = {"principal": "alice", "session": "1" * 24}[parameter]
    wrong = {"principal": "alicf", "session": "2" * 24}[parameter]
    theirs = collect_responses(bob, parameter, real)
    assert len(theirs) >= 5
    for route, answer in collect_responses(bob, parameter, wrong).items():
        assert answer == theirs[route], route
        assert answer[0] in (403, 404), (route, answer)


def test_without_a_valid_credential_nothing_is_revealed(
    service_with_catalog: RunningService,
) -> None:
    key = service_with_catalog.keys["alice"]
    bad = ["", "fl_0_0", key[:-1], f"{key[:-2]}xx", key.upper(), "fl2.1.1.r.9999999999.000001.x.x"]
    for credential in bad:
        client = service_with_catalog.client(credential)
        for path in (C, f"{C}/{THEIRS}", f"{C}/{MISSING}", "/v1/me", "/v1/sessions"):
            answer = client.get(path)
            assert answer.status_code == 401, (credential, path)
            assert answer.headers["www-authenticate"] == "Bearer"
        answer = client.post(C, json={"nonsense": True})
        assert answer.status_code == 401
    for header in ("Basic YTpi", "Bearer", f"bearer: {key}", key):
        answer = service_with_catalog.client().get(C, headers={"Authorization": header})
        assert answer.status_code == 401
    for query in ("access_token", "token", "key", "authorization"):
        assert service_with_catalog.client().get(C, params={query: key}).status_code == 401


def test_a_revoked_key_is_refused(service_with_catalog: RunningService) -> None:
    alice, root = service_with_catalog.client_of("alice"), service_with_catalog.client_of("root")
    assert alice.get("/v1/me").json()["principal"] == "alice"
    (key,) = root.get("/v1/principals/alice/keys").json()["keys"]
    assert alice.delete(f"/v1/principals/alice/keys/{key['key_id']}").status_code == 204
    assert alice.get("/v1/me").status_code == 401
    made = root.post("/v1/principals/alice/keys").json()
    assert service_with_catalog.client(made["key"]).get(f"{C}/{THEIRS}").status_code == 200
    assert root.delete("/v1/principals/alice").status_code == 204
    assert service_with_catalog.client(made["key"]).get(f"{C}/{THEIRS}").status_code == 401


def test_granted_rights_work_and_others_are_forbidden(service_with_catalog: RunningService) -> None:
    alice, bob = service_with_catalog.client_of("alice"), service_with_catalog.client_of("bob")
    assert alice.put(f"{C}/{THEIRS}/grants/bob", json={"role": "reader"}).status_code == 204
    assert [one["principal"] for one in alice.get(f"{C}/{THEIRS}/grants").json()["grants"]] == [
        "alice",
        "bob",
    ]
    assert bob.get(f"{C}/{THEIRS}/schemas/main/tables/t").status_code == 200
    assert bob.post(f"{C}/{THEIRS}/schemas", json={"name": "s"}).status_code == 403
    assert bob.post(f"{C}/{THEIRS}/forks", json={"name": "bob-f"}).status_code == 403
    assert alice.put(f"{C}/{THEIRS}/grants/bob", json={"role": "forker"}).status_code == 204
    assert bob.post(f"{C}/{THEIRS}/forks", json={"name": "carol-f"}).status_code == 403
    assert bob.post(f"{C}/{THEIRS}/forks", json={"name": "bob-f"}).status_code == 201
    assert bob.post(f"{C}/bob-f/schemas", json={"name": "s"}).status_code == 201
    assert bob.get(f"{C}/{THEIRS}/forks").json()["catalogs"][0]["name"] == "bob-f"
    assert alice.get(f"{C}/{THEIRS}/forks").json()["catalogs"] == []
    assert len(alice.get(f"{C}/{THEIRS}/tree").json()["nodes"]) == 1
    assert alice.delete(f"{C}/{THEIRS}/grants/bob").status_code == 204
    assert bob.get(f"{C}/bob-f").status_code == 404
    entries = service_with_catalog.client_of("root").get("/v1/audit?limit=1000").json()["entries"]
    assert {"done", "denied"} <= {one["outcome"] for one in entries}


def test_exceeded_limits_are_reported(service_with_catalog: RunningService) -> None:
    root, alice = service_with_catalog.client_of("root"), service_with_catalog.client_of("alice")
    assert root.put("/v1/principals/alice/quota", json={"catalogs": 2}).json()["catalogs"] == 2
    assert alice.get("/v1/principals/alice/quota").json()["catalogs"] == 2
    assert alice.post(C, json={"name": "alice-2"}).status_code == 201
    answer = alice.post(C, json={"name": "alice-3"})
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "quota_exceeded"


def test_root_operations_are_for_roots_only(service_with_catalog: RunningService) -> None:
    root, bob = service_with_catalog.client_of("root"), service_with_catalog.client_of("bob")
    body = {"name": "carol", "account": "carol", "prefixes": ["carol-"]}
    for method, path, stated in (
        ("GET", "/v1/principals", None),
        ("POST", "/v1/principals", body),
        ("PUT", "/v1/principals/bob/prefixes", {"prefix": "", "role": "owner"}),
        ("PUT", "/v1/principals/bob/quota", {}),
        ("GET", "/v1/audit", None),
        ("DELETE", "/v1/principals/alice", None),
    ):
        assert bob.request(method, path, json=stated).status_code == 403, path
        assert root.request(method, path, json=stated).is_success, path
    assert [one["name"] for one in root.get("/v1/principals").json()["principals"]] == [
        "alice",
        "bob",
        "carol",
        "root",
    ]
