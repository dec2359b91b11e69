"""All routes, as a table of requests and responses."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx
import pytest
from fastapi.routing import APIRoute

from forklake.crucible.api import ROUTERS
from tests.crucible.served import RunningService

C = "/v1/catalogs"
S = f"{C}/c/schemas"
T = f"{S}/main/tables"
COLUMNS = [{"name": "id", "type": "BIGINT", "nulls_allowed": False}, {"name": "v", "type": "text"}]
NESTED = {"struct": [{"name": "x", "type": {"list": "int32"}}]}


class Case(NamedTuple):
    """A request, its status, and the expected contents of its response."""

    method: str
    path: str
    status: int
    body: Any = None
    holds: dict[str, Any] = {}  # noqa: RUF012 - never changed


# Each story begins with an empty metastore, and with a catalog `c` with a table `t` where needed.
MADE = (
    Case("POST", C, 201, {"name": "c"}, {"name": "c"}),
    Case("POST", T, 201, {"name": "t", "columns": COLUMNS}, {"name": "t", "rows": 0}),
)
STORIES: dict[str, tuple[Case, ...]] = {
    "catalogs": (
        Case("POST", C, 201, {"name": "c"}, {"name": "c"}),
        Case("POST", C, 409, {"name": "c"}),
        Case("POST", C, 201, {"name": "c", "if_not_exists": True}, {"name": "c"}),
        Case("GET", f"{C}/c", 200, None, {"name": "c", "parent_catalog_id": None}),
        Case("GET", f"{C}/d", 404),
        Case("PATCH", f"{C}/c", 200, {"name": "d"}, {"name": "d"}),
        Case("PATCH", f"{C}/c", 404, {"name": "e"}),
        Case("PATCH", f"{C}/d", 200, {"ttl_seconds": 60}, {"name": "d"}),
        Case("PATCH", f"{C}/d", 400, {"ttl_seconds": 0}),
        Case("DELETE", f"{C}/d", 204),
        Case("DELETE", f"{C}/d", 404),
        Case("DELETE", f"{C}/d?if_exists=true", 204),
    ),
    "batches": (
        Case("POST", "/v1/batch/create", 201, {"names": ["a1", "a2", "b"]}),
        Case("POST", "/v1/batch/create", 409, {"names": ["a3", "b"]}),
        Case("POST", "/v1/batch/create", 400, {"names": ["a3", "a3"]}),
        Case("POST", "/v1/batch/create", 400, {"names": []}),
        Case("GET", f"{C}?prefix=a&limit=1", 200, None, {"next": "a1"}),
        Case("GET", f"{C}?prefix=a&limit=1&after=a2", 200, None, {"next": None, "catalogs": []}),
        Case("GET", f"{C}?limit=0", 400),
        Case("POST", "/v1/batch/drop", 404, {"names": ["a1", "gone"]}),
        Case("POST", "/v1/batch/drop", 200, {"names": ["a1", "gone"], "if_exists": True},
             {"dropped": 1}),
        Case("POST", "/v1/batch/drop", 200, {"names": ["a2", "b"]}, {"dropped": 2}),
    ),
    "merging": (
        *MADE,
        Case("POST", f"{C}/c/forks", 201, {"name": "f"}, {"made": 1}),
        Case("GET", f"{C}/c/diff/f", 200, None, {"tables": [], "is_by_row_id": True}),
        Case("GET", f"{C}/c/diff/gone", 404),
        Case("GET", f"{C}/c/diff/f?limit=0", 400),
        Case("POST", f"{C}/f/schemas/main/tables", 201, {"name": "u", "columns": COLUMNS}),
        Case("POST", f"{C}/c/merge", 200, {"source": "f", "dry_run": True}, {"snapshot_id": None}),
        Case("POST", f"{C}/c/merge", 200, {"source": "f"}, {"definitions": ["table main.u added"]}),
        Case("POST", f"{C}/c/merge", 200, {"source": "f"}, {"snapshot_id": None}),
        Case("POST", f"{C}/c/merge", 400, {"source": "c"}),
        Case("POST", f"{C}/c/merge", 400, {}),
        Case("POST", f"{C}/c/merge", 404, {"source": "gone"}),
        Case("POST", f"{C}/c/merge", 404, {"source": "f", "tables": ["gone"]}),
    ),
    "forks": (
        *MADE,
        Case("POST", f"{C}/c/forks", 201, {"name": "f"}, {"made": 1}),
        Case("POST", f"{C}/c/forks", 409, {"name": "f"}),
        Case("POST", f"{C}/c/forks", 201, {"names": ["f", "g"], "if_not_exists": True},
             {"made": 1}),
        Case("POST", f"{C}/c/forks", 400, {"name": "h", "names": ["i"]}),
        Case("POST", f"{C}/c/forks", 400, {}),
        Case("POST", f"{C}/c/forks", 404, {"name": "h", "at": 10**9}),
        Case("POST", f"{C}/c/forks", 201, {"name": "old", "at": 1, "ttl_seconds": 60}),
        Case("GET", f"{C}/old/schemas/main/tables", 200, None, {"tables": []}),
        Case("POST", f"{C}/f/forks", 201, {"name": "ff", "mode": "copy"}, {"made": 1}),
        Case("POST", f"{C}/gone/forks", 404, {"name": "h"}),
        Case("GET", f"{C}/c/forks?limit=2", 200, None, {"next": "g"}),
        Case("GET", f"{C}/c/forks?limit=2&after=g", 200, None, {"next": None}),
        Case("GET", f"{C}/c/tree", 200, None, {"is_cut": False}),
        Case("GET", f"{C}/c/tree?limit=2", 200, None, {"is_cut": True}),
        Case("POST", f"{C}/g/materialize", 200),
        Case("POST", f"{C}/c/materialize", 200, None, {"snapshot": None}),
    ),
    "schemas": (
        *MADE,
        Case("POST", S, 201, {"name": "s"}, {"name": "s", "tables": 0}),
        Case("POST", S, 409, {"name": "S"}),
        Case("POST", S, 201, {"name": "s", "if_not_exists": True}, {"name": "s"}),
        Case("PATCH", f"{S}/s", 200, {"name": "a/b"}, {"name": "a/b"}),
        Case("GET", f"{S}/a%2Fb/tables", 200, None, {"tables": []}),
        Case("GET", f"{S}/a%2fb/views", 200, None, {"views": []}),
        Case("DELETE", f"{S}/a%2Fb", 204),
        Case("DELETE", f"{S}/a%2Fb", 404),
        Case("DELETE", f"{S}/a%2Fb?if_exists=true", 204),
        Case("DELETE", f"{S}/main", 400),
        Case("DELETE", f"{S}/main?cascade=true", 204),
        Case("GET", f"{S}?snapshot=2", 200, None, {"snapshot": 2}),
        Case("GET", f"{S}?snapshot=99999", 404),
        Case("GET", f"{S}?timestamp=2001-01-01T00:00:00Z", 404),
        Case("GET", f"{S}?timestamp=2001-01-01T00:00:00", 400),
        Case("GET", f"{S}?snapshot=1&timestamp=2001-01-01T00:00:00Z", 400),
    ),
    "tables": (
        *MADE,
        Case("POST", T, 409, {"name": "T", "columns": COLUMNS}),
        Case("POST", T, 201, {"name": "t", "columns": COLUMNS, "if_not_exists": True}),
        Case("POST", T, 400, {"name": "u", "columns": []}),
        Case("POST", T, 422, {"name": "u", "columns": [{"name": "x", "type": "elephant"}]}),
        Case("POST", T, 400, {"name": "u", "columns": COLUMNS, "partition_by": [
            {"column": "id", "transform": "year"}]}),
        Case("POST", f"{S}/gone/tables", 404, {"name": "u", "columns": COLUMNS}),
        Case("POST", T, 201, {"name": "u", "columns": [{"name": "n", "type": NESTED}],
                              "comment": "nested"}, {"comment": "nested"}),
        Case("GET", f"{T}?limit=1", 200, None, {"next": "t"}),
        Case("GET", f"{T}?limit=1&after=t", 200, None, {"next": None}),
        Case("PATCH", f"{T}/t", 200, {"name": "w", "comment": "c", "partition_by": [
            {"column": "id"}], "sorted_by": [{"column": "v", "is_descending": True}]},
             {"name": "w", "comment": "c", "partition_by": [
                 {"column": "id", "transform": "identity"}]}),
        Case("PATCH", f"{T}/w", 200, {"comment": None}, {"comment": None}),
        Case("PATCH", f"{T}/w", 404, {"partition_by": [{"column": "no"}]}),
        Case("GET", f"{T}/t", 404),
        Case("GET", f"{T}/t?snapshot=2", 200, None, {"name": "t", "snapshot": 2}),
        Case("GET", f"{T}/w/files", 200, None, {"files": [], "next": None}),
        Case("DELETE", f"{T}/w", 204),
        Case("DELETE", f"{T}/w", 404),
        Case("DELETE", f"{T}/w?if_exists=true", 204),
    ),
    "columns": (
        *MADE,
        Case("POST", f"{T}/t/columns", 201, {"name": "d", "type": "decimal(9,2)",
                                             "default": "1.50"}),
        Case("POST", f"{T}/t/columns", 409, {"name": "D", "type": "int32"}),
        Case("POST", f"{T}/t/columns", 400, {"name": "e", "type": "int32", "default": "x"}),
        Case("PATCH", f"{T}/t/columns/id", 200, {"type": "int128", "nulls_allowed": True}),
        Case("PATCH", f"{T}/t/columns/id", 400, {"type": "int8"}),
        Case("PATCH", f"{T}/t/columns/id", 400, {"nulls_allowed": False}),
        Case("PATCH", f"{T}/t/columns/v", 200, {"name": "a/b", "default": "q", "comment": "k"}),
        Case("PATCH", f"{T}/t/columns/a%2Fb", 200, {"default": None}),
        Case("DELETE", f"{T}/t/columns/a%2Fb", 204),
        Case("DELETE", f"{T}/t/columns/d", 204),
        Case("DELETE", f"{T}/t/columns/d", 404),
        Case("DELETE", f"{T}/t/columns/id", 400),
    ),
    "views": (
        *MADE,
        Case("GET", f"{S}/main/views", 200, None, {"views": []}),
        Case("GET", f"{S}/gone/views", 404),
        Case("GET", f"{S}/main/views/w", 404),
        Case("POST", f"{S}/main/views", 400, {"name": "w", "sql": "DROP TABLE t"}),
        Case("POST", f"{S}/main/views", 400, {"name": "w", "sql": "SELECT 1; SELECT 2"}),
        Case("POST", f"{S}/main/views", 400, {"name": "w", "sql": "SELECT ("}),
        Case("POST", f"{S}/main/views", 400, {"name": "", "sql": "SELECT 1"}),
        Case("POST", f"{S}/gone/views", 404, {"name": "w", "sql": "SELECT 1"}),
        Case("DELETE", f"{S}/main/views/w", 404),
        Case("DELETE", f"{S}/main/views/w?if_exists=true", 204),
    ),
    "history": (
        *MADE,
        Case("GET", f"{C}/c/snapshots?limit=1", 200, None, {"next": 2}),
        Case("GET", f"{C}/c/snapshots?limit=1&before=2", 200, None, {"next": None}),
        Case("GET", f"{C}/c/storage", 200, None, {"private_bytes": 0}),
        Case("GET", f"{C}/c/mirrors", 200, None, {"mirrors": []}),
        Case("GET", f"{C}/c/options", 200),
        Case("PUT", f"{C}/c/options/target_file_size", 200, {"value": "1MB"},
             {"value": "1000000", "scope": "catalog"}),
        Case("GET", f"{C}/c/options/TARGET_FILE_SIZE", 200, None, {"value": "1000000"}),
        Case("PUT", f"{C}/c/options/target_file_size?table=t", 200, {"value": 5},
             {"value": "5", "scope": "table"}),
        Case("PUT", f"{C}/c/options/target_file_size", 200, {"value": None}, {"scope": "default"}),
        Case("PUT", f"{C}/c/options/target_file_size", 400, {"value": "many"}),
        Case("PUT", f"{C}/c/options/nonsense", 400, {"value": 1}),
        Case("GET", f"{C}/c/options/nonsense", 404),
        Case("POST", f"{C}/c/maintenance/expire", 202, {"wait_seconds": 30}, {"state": "done"}),
        Case("POST", f"{C}/c/maintenance/cleanup", 202, {"wait_seconds": 30, "dry_run": True},
             {"state": "done", "count": 0, "unit": "files"}),
        Case("POST", f"{C}/c/maintenance/explode", 400, {}),
        Case("GET", f"{C}/c/maintenance/runs", 200),
    ),
    "others": (
        Case("GET", "/health/live", 200, None, {"status": "live"}),
        Case("GET", "/health/ready", 200, None, {"status": "ready"}),
        Case("GET", "/v1/me", 200, None, {"principal": "local", "is_root": True}),
        Case("GET", "/v1/nothing", 404),
        Case("GET", "/v1/catalogs/", 404),
        Case("PUT", C, 405, {}),
    ),
}  # fmt: skip
CODES = {400: "invalid_input", 404: "not_found", 409: "already_exists", 422: "unsupported"}


@pytest.mark.parametrize("story", STORIES)
def test_routes_answer_as_listed(client: httpx.Client, story: str) -> None:
    for case in STORIES[story]:
        answer = client.request(case.method, case.path, json=case.body)
        assert answer.status_code == case.status, (case, answer.text)
        assert answer.headers["x-request-id"]
        found = answer.json() if answer.content else {}
        assert found == found | case.holds, (case, found)
        if answer.is_error:
            error = found["error"]
            assert error["request_id"] == answer.headers["x-request-id"]
            assert error["code"] == CODES.get(case.status, error["code"])
            assert error["message"]
            assert error["remedy"]


def test_nested_types_are_returned_as_given(client: httpx.Client) -> None:
    types = ["int64", NESTED, {"map": {"key": "varchar", "value": NESTED}}, "decimal(38,10)"]
    columns = [{"name": f"c{place}", "type": one} for place, one in enumerate(types)]
    client.post(C, json={"name": "c"})
    client.post(T, json={"name": "t", "columns": columns})
    found = client.get(f"{T}/t").json()["columns"]
    assert [column["type"] for column in found] == types


def test_pages_of_catalogs_list_each_once(client: httpx.Client) -> None:
    names = [f"n{number:03}" for number in range(25)]
    client.post("/v1/batch/create", json={"names": names})
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = client.get(C, params={"limit": 10, "after": after}).json()
        found += [row["name"] for row in page["catalogs"]]
        after = page["next"]
    assert found == names


def test_an_expired_fork_is_dropped_by_the_service(open_service: RunningService) -> None:
    client = open_service.client()
    client.post(C, json={"name": "c"})
    client.post(f"{C}/c/forks", json={"name": "short", "ttl_seconds": 1})
    client.post(f"{C}/c/forks", json={"name": "long", "ttl_seconds": 1})
    client.patch(f"{C}/long", json={"ttl_seconds": None})
    assert client.get(f"{C}/short").json()["expires_at"]
    assert client.get(f"{C}/long").json()["expires_at"] is None
    with open_service.service.home.database.writing() as connection:
        connection.fetch("UPDATE ducklake_catalog_lease SET expires_at = '2001-01-01 00:00:00'")
        connection.commit()
    open_service.service.run_chores()
    assert client.get(f"{C}/short").status_code == 404
    assert client.get(f"{C}/long").status_code == 200


def test_every_route_documents_its_purpose_and_errors(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    routes = [route for router in ROUTERS for route in router.routes]
    assert all(isinstance(route, APIRoute) for route in routes)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (path, method)
            assert operation["description"], (path, method)
            assert operation["tags"], (path, method)
            assert {"400", "401", "403", "404", "503"} <= set(operation["responses"]), path
            assert ("security" in operation) == path.startswith("/v1/"), path
