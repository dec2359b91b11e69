"""The access matrix over HTTP: every route and page of a catalog with every role on it."""

from __future__ import annotations

import httpx
import pytest
from fastapi.routing import APIRoute

from forklake.access.callers import LOCAL
from forklake.access.roles import ROLES, Right, Role
from forklake.crucible.pages.installation import PAGES
from tests.crucible.served import RunningService
from tests.crucible.test_strangers import COLUMN, OTHERS, THEIRS, body_for, routes

C = "/v1/catalogs"
T = "/schemas/{schema}/tables"
# The right that each route of a catalog requires, stated independently of the application.
NEEDED: dict[Right, str] = {
    Right.READ: f"""
        GET  GET/forks  GET/tree  GET/schemas  GET{T}  GET{T}/{{table}}  GET{T}/{{table}}/files
        GET/schemas/{{schema}}/views  GET/schemas/{{schema}}/views/{{view}}  GET/snapshots
        GET/storage  GET/mirrors  GET/options  GET/options/{{option}}  GET/maintenance/runs
        GET/diff/{{other}}  POST/tokens""",
    Right.FORK: "POST/forks",
    Right.WRITE: f"""
        POST/schemas  PATCH/schemas/{{schema}}  DELETE/schemas/{{schema}}  POST{T}
        PATCH{T}/{{table}}  DELETE{T}/{{table}}  POST{T}/{{table}}/columns
        PATCH{T}/{{table}}/columns/{{column}}  DELETE{T}/{{table}}/columns/{{column}}
        POST/schemas/{{schema}}/views  DELETE/schemas/{{schema}}/views/{{view}}  POST/merge""",
    Right.ADMINISTER: """
        DELETE  POST/materialize  PUT/options/{option}  POST/maintenance/{operation}  GET/grants
        PUT/grants/{principal}  DELETE/grants/{principal}  GET/audit""",
    Right.OWN: "PATCH",
}
PAGE_NEEDED: dict[Right, str] = {
    Right.READ: "GET GET/forks GET/branch GET/snapshots GET/storage GET/options GET/mirrors"
    " GET/maintenance GET/table GET/view GET/sql POST/sql",
    Right.FORK: "GET/fork POST/fork",
    Right.ADMINISTER: "GET/drop POST/drop POST/options GET/grants POST/grants"
    " POST/maintenance/{operation}",
    Right.OWN: "GET/rename POST/rename",
}
# Called only where they are refused: they need Spark, or change what other cases read.
TOO_MUCH = {
    *("GET/diff/{other}", "POST/merge", "POST/schemas/{schema}/views", "POST/sql"),
    *("POST/maintenance/{operation}", "DELETE", "PATCH", "POST/drop", "POST/rename"),
    *("DELETE/schemas/{schema}", "PATCH/schemas/{schema}", f"DELETE{T}/{{table}}"),
}


def parse_rights(table: dict[Right, str]) -> dict[str, Right]:
    """Return the right of each route."""
    return {route: right for right, names in table.items() for route in names.split()}


def fill_path(path: str) -> str:
    """Return a path with values for its parameters."""
    values = {**OTHERS, "catalog": THEIRS, "other": THEIRS, "principal": "bob"}
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    return path


@pytest.fixture
def people(service: RunningService) -> dict[Role, httpx.Client]:
    """Return a client in every role on a catalog with a table."""
    alice, access = service.client_of("alice"), service.service.access
    alice.post(C, json={"name": THEIRS}).raise_for_status()
    table = {"name": "t", "columns": [COLUMN, {"name": "a", "type": "int32"}]}
    alice.post(f"{C}/{THEIRS}/schemas/main/tables", json=table).raise_for_status()
    found = {}
    for role in Role:
        access.principals.create(LOCAL, role, role, prefixes=["bob-"])
        access.grants.add(LOCAL, THEIRS, role, role)
        found[role] = service.client(access.keys.create(LOCAL, role)[1])
    return found


def test_every_route_of_a_catalog_requires_the_listed_right(
    people: dict[Role, httpx.Client],
) -> None:
    needed = parse_rights(NEEDED)
    known = {
        f"{method}{path.removeprefix(f'{C}/{{catalog}}')}": (method, path, route)
        for method, path, route in routes("catalog")
        if path.startswith(C)
    }
    assert set(known) == set(needed)
    for role, client in people.items():
        for name, (method, path, route) in known.items():
            is_allowed = needed[name] in ROLES[role]
            if is_allowed and name in TOO_MUCH:
                continue
            body = body_for(method, path, route)
            answer = client.request(method, fill_path(path), json=body)
            assert (answer.status_code == 403) is not is_allowed, (role, name, answer.text)


def test_admins_cannot_grant_or_revoke_admin_and_owner_roles(
    people: dict[Role, httpx.Client],
) -> None:
    admin = people[Role.ADMIN]
    for role in ("admin", "owner"):
        answer = admin.put(f"{C}/{THEIRS}/grants/bob", json={"role": role})
        assert answer.status_code == 403
    for holder in ("admin", "owner", "alice"):
        assert admin.delete(f"{C}/{THEIRS}/grants/{holder}").status_code == 403
        body = {"role": "reader"}
        assert admin.put(f"{C}/{THEIRS}/grants/{holder}", json=body).status_code == 403
    assert admin.patch(f"{C}/{THEIRS}", json={"ttl_seconds": 3600}).status_code == 200
    for role in (Role.READER, Role.FORKER, Role.WRITER):
        answer = people[role].patch(f"{C}/{THEIRS}", json={"ttl_seconds": 3600})
        assert answer.status_code == 403


def test_every_page_of_a_catalog_requires_the_listed_right(
    service: RunningService, people: dict[Role, httpx.Client]
) -> None:
    needed, prefix = parse_rights(PAGE_NEEDED), "/catalogs/{catalog}"
    known = {
        f"{method}{route.path.removeprefix(prefix)}": (method, route.path)
        for module in PAGES
        for route in module.routes.routes
        if isinstance(route, APIRoute) and route.path.startswith(prefix)
        for method in route.methods or ()
    }
    assert set(known) == set(needed)
    for role, owner in people.items():
        client = service.client()
        page = client.get("/sign-in").text
        form = {"csrf": page.partition('name="csrf" value="')[2].partition('"')[0]}
        key = owner.headers["authorization"].partition(" ")[2]
        assert client.post("/sign-in", data={**form, "credential": key}).status_code == 303
        page = client.get("/").text
        form = {"csrf": page.partition('name="csrf" value="')[2].partition('"')[0]}
        for name, (method, path) in known.items():
            is_allowed = needed[name] in ROLES[role]
            if is_allowed and name in TOO_MUCH:
                continue
            given = form if method == "POST" else None
            answer = client.request(method, fill_path(path), data=given, params={"name": "t"})
            assert (answer.status_code == 403) is not is_allowed, (role, name, answer.text)
            if answer.status_code == 403:
                assert "not sent from a page of this visit" not in answer.text
